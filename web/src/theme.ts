// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, or as the user has chosen.
import { signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

const KEY = "popdistd-theme";

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto"; // Storage may be forbidden.
  }
}

export const theme = signal<Theme>(stored());

export function nextTheme() {
  const all: Theme[] = ["auto", "light", "dark"];
  theme.value = all[(all.indexOf(theme.value) + 1) % all.length]!;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Then it lasts as long as the page.
  }
}

theme.subscribe((value) => {
  document.documentElement.dataset["theme"] = value;
});
