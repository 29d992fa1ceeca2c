// SPDX-License-Identifier: Apache-2.0
// In place of all pages, where the daemon does not know who asks: it takes a token, or says how a certificate is imported.
import { useRef, useState } from "preact/hooks";
import { Command, Missing } from "../parts/basics";
import { logIn } from "../session";
import { connection } from "../store";

function Login() {
  const [mistake, setMistake] = useState("");
  const [asks, setAsks] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const token = box.current!.value.trim();
    if (!token || asks) return;
    setAsks(true);
    setMistake("");
    try {
      await logIn(token);
      document.getElementById("main")?.focus(); // the form has gone
    } catch (error) {
      setMistake((error as Error).message);
      setAsks(false);
      box.current?.select();
    }
  };
  return (
    <form class="login" onSubmit={submit as never}>
      <label for="token">Token</label>
      <div class="login-row">
        <input
          id="token"
          ref={box}
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="pop_…"
          required
          aria-invalid={mistake !== ""}
          aria-describedby="token-mistake"
        />
        <button type="submit" class="button" aria-disabled={asks}>
          Log in
        </button>
      </div>
      <p id="token-mistake" class="login-mistake" role="alert">
        {mistake}
      </p>
    </form>
  );
}

export function Nobody() {
  return (
    <Missing title="popdistd does not know who you are">
      {connection.value.why}
      <span class="nobody-help">Log in with a token, which popctl makes where you are known:</span>
      <Command text="popctl create token --expires 30d" />
      <Login />
      <span class="nobody-help">
        Or give your browser your certificate: make a file that browsers import, and open this page again.
      </span>
      <Command text="openssl pkcs12 -export -in user-NAME.pem -inkey user-NAME-key.pem -out NAME.p12" />
    </Missing>
  );
}
