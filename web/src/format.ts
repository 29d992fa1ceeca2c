// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them.

export function counted(count: number, one: string, many = one + "s"): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function number(value: number): string {
  return value.toLocaleString("en-GB");
}

/// "3 s", "2 min 05 s", "1 h 12 min", "3 d 4 h"
export function duration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/// "now", "40 s ago", "5 min ago", "3 h ago", "2 d ago"
export function ago(time: number, now: number): string {
  if (time > now + 5000) return `in ${ago(now - (time - now), now).replace(" ago", "")}`;
  const s = Math.floor((now - time) / 1000);
  if (s < 5) return "now";
  if (s < 60) return `${s - (s % 5)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86_400)} d ago`;
}

export function absolute(time: number): string {
  const at = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function timeOf(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
