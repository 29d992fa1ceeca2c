// SPDX-License-Identifier: Apache-2.0
// Numbers over time that a job tells: those that its programs report, and else those that its output has in lines such as
// "epoch 3/9: loss 0.32, 385436 samples/s".
import { signal } from "@preact/signals";
import type { Value } from "../types";
import type { Line } from "./output_log";

export interface Series {
  name: string;
  from: string; // the source
  xs: number[]; // 1, 2, 3, … or the step that was told with it
  ys: number[];
}

const FOLDED = { FOLD_SUM: "sum", FOLD_MEAN: "mean", FOLD_MAX: "greatest" };
const MOST_SERIES = 12;
const MOST_POINTS = 2000;
const NUMBER = "(-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)";
const RATE = new RegExp(`${NUMBER}\\s*([A-Za-z]+/s(?:ec)?)\\b`, "g"); // 385436 samples/s
const NAMED = new RegExp(`\\b([A-Za-z][\\w./-]*)\\s*[=:]\\s*${NUMBER}(?![\\w:/.])`, "g"); // lr=0.1
const KNOWN = new RegExp(`\\b(loss|accuracy|acc|perplexity|throughput)\\s+${NUMBER}`, "gi"); // loss 0.52
const STEP = /\b(?:step|epoch|iteration|iter|batch)\s*[=:]?\s*(\d+)/i;

export class SeriesTable {
  readonly version = signal(0);
  readonly all = new Map<string, Series>();
  private told_by = new Map<string, number>(); // the instance, by series: others say the same

  /// Adds a value that a program has reported: `x` is its step.
  add(name: string, x: number | undefined, y: number, from: string) {
    let series = this.all.get(name);
    if (!series) {
      if (this.all.size >= MOST_SERIES) return;
      this.all.set(name, (series = { name, from, xs: [], ys: [] }));
    }
    const last = series.xs.at(-1) ?? 0;
    series.xs.push(x !== undefined && x > last ? x : last + 1);
    series.ys.push(y);
    if (series.xs.length > MOST_POINTS) thin(series);
    this.version.value++;
  }

  /// Adds values that all instances together have reported, each time that they do.
  addReported(values: Value[]) {
    for (const { name, value, fold, instances } of values)
      this.add(name, undefined, value, instances > 1 ? `${FOLDED[fold]} of ${instances} instances` : "program");
  }

  scan(line: Line) {
    if (line.instance < 0 || line.text.length > 500 || !/\d/.test(line.text)) return;
    const step = STEP.exec(line.text);
    const x = step ? Number(step[1]) : undefined;
    for (const match of line.text.matchAll(RATE)) this.scanned(match[2]!, x, match[1]!, line.instance);
    for (const match of line.text.matchAll(KNOWN)) this.scanned(match[1]!.toLowerCase(), x, match[2]!, line.instance);
    for (const match of line.text.matchAll(NAMED)) this.scanned(match[1]!, x, match[2]!, line.instance);
  }

  private scanned(name: string, x: number | undefined, value: string, instance: number) {
    if (/^(step|epoch|iteration|iter|batch|pid|port|rank|instance|seed|line)s?$/i.test(name)) return;
    const first = this.told_by.get(name) ?? instance;
    this.told_by.set(name, first);
    if (first === instance) this.add(name, x, Number(value), `output of instance ${instance}`);
  }
}

/// Half as many points, every second one.
function thin(series: Series) {
  series.xs = series.xs.filter((_, index) => index % 2 === 0);
  series.ys = series.ys.filter((_, index) => index % 2 === 0);
}

/// Rates first, then losses.
export function order(a: Series, b: Series): number {
  const rank = (name: string) => (name.includes("/s") || name === "throughput" ? 0 : /loss/i.test(name) ? 1 : 2);
  return rank(a.name) - rank(b.name) || a.name.localeCompare(b.name);
}
