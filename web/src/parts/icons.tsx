// SPDX-License-Identifier: Apache-2.0
// Icons of 20 × 20, drawn with the colour of the text around them.

const PATHS: Record<string, string> = {
  overview: "M3 10h4l2-6 3 12 2-6h3",
  jobs: "M3 5h14M3 10h14M3 15h9",
  pods: "M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z",
  hosts: "M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01",
  about: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9v4M10 6.5h.01",
  check: "M4 10.5l4 4 8-9",
  warn: "M10 3l7.5 13h-15zM10 8v3.5M10 13.8h.01",
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5L17 17",
  pause: "M7 4v12M13 4v12",
  play: "M6 4l10 6-10 6z",
  down: "M10 3v11M5 9.5l5 5 5-5M4 17h12",
  file: "M10 3v9M6 8.5l4 4 4-4M4 16h12",
  copy: "M7 7h9v9H7zM4 13V4h9",
  sun: "M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4",
  moon: "M16 12A7 7 0 0 1 8 4a6.5 6.5 0 1 0 8 8z",
  auto: "M10 17a7 7 0 1 0 0-14v14zM10 3a7 7 0 0 1 0 14z",
  up: "M5 12l5-5 5 5",
  next: "M5 8l5 5 5-5",
  chevron: "M8 5l5 5-5 5",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="18"
      height="18"
      fill="none"
      stroke="currentColor"
      stroke-width="1.7"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
