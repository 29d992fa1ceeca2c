// SPDX-License-Identifier: Apache-2.0
// The small parts that all pages are made of.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { absolute, ago, duration, timeOf } from "../format";
import { now } from "../store";
import type { Tone, Word } from "../words";
import { Icon } from "./icons";

export function Badge({ word }: { word: Word }) {
  return (
    <span class={`badge tone-${word.tone}`}>
      <span class="dot" aria-hidden="true" />
      {word.text}
    </span>
  );
}

/// A time as "5 min ago"; what it is exactly shows on hover.
export function When({ time }: { time: string | undefined }) {
  const at = timeOf(time);
  if (at === undefined) return <span class="muted">–</span>;
  return (
    <time dateTime={time} title={absolute(at)}>
      {ago(at, now.value)}
    </time>
  );
}

/// The time from `from` to `to`, or until now.
export function Took({ from, to }: { from: string | undefined; to?: string | undefined }) {
  const begin = timeOf(from);
  if (begin === undefined) return <span class="muted">–</span>;
  const end = timeOf(to) ?? now.value;
  return <span title={`since ${absolute(begin)}`}>{duration(end - begin)}</span>;
}

export function Card({
  title,
  extra,
  children,
  id,
}: {
  title: string;
  extra?: ComponentChildren;
  children: ComponentChildren;
  id?: string;
}) {
  return (
    <section class="card" aria-label={title} id={id}>
      <header class="card-head">
        <h2>{title}</h2>
        {extra}
      </header>
      {children}
    </section>
  );
}

/// Nothing is there: what to do now, with a command to copy.
export function Empty({ title, children, command }: { title: string; children?: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p class="muted">{children}</p>}
      {command && <Command text={command} />}
    </div>
  );
}

/// In place of a whole page.
export function Missing({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <h1>{title}</h1>
      <div class="muted">{children}</div>
    </div>
  );
}

export function Command({ text, label }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div class="command">
      <code tabIndex={0} role="group" aria-label={label ?? "command"}>
        {text}
      </code>
      {navigator.clipboard && (
        <button
          type="button"
          class="button small"
          onClick={() => void copy()}
          aria-label={`Copy ${label ?? "the command"}`}
        >
          <Icon name={copied ? "check" : "copy"} />
        </button>
      )}
    </div>
  );
}

export interface BarPart {
  label: string;
  value: number;
  kind: string;
}

/// Parts of a whole, side by side, with a legend that says the numbers.
export function Bar({ parts, total, unit }: { parts: BarPart[]; total: number; unit: string }) {
  const shown = parts.filter((part) => part.value > 0);
  return (
    <div class="bar-block">
      <div class="bar" aria-hidden="true">
        {shown.map((part) => (
          <span
            key={part.label}
            class={`bar-part kind-${part.kind}`}
            style={{ width: `${(100 * part.value) / Math.max(1, total)}%` }}
          />
        ))}
      </div>
      <ul class="legend">
        {parts
          .filter((part) => part.value > 0 || part.kind === "free")
          .map((part) => (
            <li key={part.label}>
              <span class={`swatch kind-${part.kind}`} aria-hidden="true" />
              {part.value} {part.label}
            </li>
          ))}
        <li class="muted">
          of {total} {unit}
        </li>
      </ul>
    </div>
  );
}

export function Tile({
  label,
  value,
  note,
  href,
  tone,
}: {
  label: string;
  value: string;
  note?: string;
  href: string;
  tone?: Tone;
}) {
  return (
    <a class={`tile tone-${tone ?? "quiet"}`} href={href}>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value}</span>
      <span class="tile-note">{note ?? "\u00a0"}</span>
    </a>
  );
}

export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
      <span class="skeleton" />
      <span class="skeleton" />
      <span class="skeleton" />
    </div>
  );
}
