// SPDX-License-Identifier: Apache-2.0
// A question before something is done, and a word about how it went.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

interface Question {
  title: string;
  text: string;
  yes: string;
  reason: string; // label of a text to give; empty: none is asked for
  act: (reason: string) => Promise<string>; // the message when it is done
}

const question = signal<Question | undefined>(undefined);
const said = signal<{ text: string; bad: boolean; number: number } | undefined>(undefined);
let number = 0;

export function ask(about: Question) {
  question.value = about;
}

export function say(text: string, bad = false) {
  const own = ++number;
  said.value = { text, bad, number: own };
  setTimeout(() => {
    if (said.peek()?.number === own) said.value = undefined;
  }, 6000);
}

/// Does it at once, and says how it went.
export async function act(what: () => Promise<string>) {
  try {
    say(await what());
  } catch (error) {
    say((error as Error).message, true);
  }
}

export function Questions() {
  const dialog = useRef<HTMLDialogElement>(null);
  const about = question.value;
  useEffect(() => {
    if (about) dialog.current?.showModal();
  }, [about]);
  if (!about) return null;
  const close = () => (question.value = undefined);
  const answer = (event: SubmitEvent) => {
    event.preventDefault();
    const reason = new FormData(event.target as HTMLFormElement).get("reason");
    close();
    void act(() => about.act(String(reason ?? "")));
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="question-title">
      <form onSubmit={answer as never}>
        <h2 id="question-title">{about.title}</h2>
        <p>{about.text}</p>
        {about.reason && (
          <label>
            {about.reason}
            <input name="reason" autocomplete="off" maxLength={200} />
          </label>
        )}
        <div class="buttons">
          <button type="button" class="button" onClick={close}>
            No
          </button>
          <button type="submit" class="button danger">
            {about.yes}
          </button>
        </div>
      </form>
    </dialog>
  );
}

export function Said() {
  const shown = said.value;
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown && <div class={`toast ${shown.bad ? "bad" : ""}`}>{shown.text}</div>}
    </div>
  );
}
