// SPDX-License-Identifier: Apache-2.0
// The page's place, as its address says after "#": links can be sent, and Back works.
import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

/// "#/jobs/12?show=failed" is ["jobs", "12"] with the query.
export const route = computed(() => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
});

export function link(parts: string[], query: Record<string, string> = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== "");
  const path = "#/" + parts.map(encodeURIComponent).join("/");
  return set.length ? `${path}?${new URLSearchParams(set)}` : path;
}

/// Changes parts of the query in place; empty values go.
export function setQuery(changes: Record<string, string>) {
  const query = { ...Object.fromEntries(route.peek().query), ...changes };
  history.replaceState(null, "", link(route.peek().parts, query));
  hash.value = location.hash;
}
