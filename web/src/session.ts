// SPDX-License-Identifier: Apache-2.0
// Logs the browser in with a token, and out. The cookie of a session is not for scripts: whether there is one is
// remembered beside it.
import { signal } from "@preact/signals";
import { ApiError, post } from "./api";
import { start } from "./live";
import { connection } from "./store";

const KEY = "popdist-logged-in";

// If the browser keeps nothing, logging out is left to the end of the session.
function remember(is_in: boolean) {
  try {
    if (is_in) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch {
    // It is not allowed to.
  }
}

function remembered(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export const isLoggedIn = signal(remembered());

function isIn(is_in: boolean) {
  remember(is_in);
  isLoggedIn.value = is_in;
}

// A session ends by itself, too: after 8 hours, or with its token.
connection.subscribe(({ state }) => {
  if (state === "nobody") isIn(false);
});

/// Throws ApiError, whose message says what is wrong with the token.
export async function logIn(token: string) {
  await post("/login", { token });
  isIn(true);
  await start();
}

/// Reads the page anew: what it knows was for who has gone. A session that has ended already is as good as ended.
export async function logOut(): Promise<string> {
  try {
    await post("/logout", {});
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  }
  isIn(false);
  location.reload();
  return "Logged out";
}
