// SPDX-License-Identifier: Apache-2.0
// A job's records: its output, its events, the places of its instances. Read as they come, until its end.
import { signal } from "@preact/signals";
import { Stream, type StreamEvent } from "../api";
import { duration } from "../format";
import type { JobEvent, JobRecord, LogEntry, Outcome } from "../types";
import { OutputLog } from "./output_log";
import { SeriesTable } from "./series";

export interface Happening {
  key: string;
  after_ms: number | undefined;
  instance: number | undefined;
  text: string;
  tone: "quiet" | "ok" | "warn" | "error" | "info";
}

export interface Instance {
  number: number;
  host: string;
  cpus: string;
  state: "placed" | "running" | "ended";
  said: string; // about its end
}

const MOST_HAPPENINGS = 400;

export class JobRecords {
  readonly output: OutputLog;
  readonly series = new SeriesTable();
  readonly happenings = signal<readonly Happening[]>([]);
  readonly instances = signal<readonly Instance[]>([]);
  readonly state = signal<"reading" | "live" | "lost" | "over">("reading");
  readonly refused = signal("");
  private stream: Stream;
  private last = "0";

  constructor(id: string) {
    this.output = new OutputLog((line) => this.series.scan(line));
    this.stream = new Stream({
      path: () => `/v1/jobs/${encodeURIComponent(id)}/records?follow=1&from=${Number(this.last) + 1}`,
      take: (events) => this.take(events),
      opened: () => (this.state.value = "live"),
      lost: () => {
        if (this.state.peek() !== "over") this.state.value = "lost";
      },
      refused: (why) => (this.refused.value = why.message),
    });
  }

  stop() {
    this.stream.stop();
  }

  // The screen is drawn between batches.
  private async take(events: StreamEvent[]) {
    const happenings: Happening[] = [];
    for (const event of events) {
      if (event.name === "end") {
        const how = JSON.parse(event.data) as { code: number; message: string };
        if (how.code !== 0 && how.code !== 5) continue; // It is asked again.
        if (how.code === 5) this.refused.value = how.message;
        this.over();
        continue;
      }
      const record = JSON.parse(event.data) as JobRecord;
      this.last = record.sequence;
      if (record.output) {
        const bytes = Uint8Array.from(atob(record.output.text), (char) => char.charCodeAt(0));
        this.output.push(record.output.instance, record.output.is_stderr, bytes);
      } else if (record.dropped_bytes) {
        this.output.say(`[${record.dropped_bytes} bytes of output were dropped here: the limit of the log]`);
      } else if (record.event) {
        const happening = this.happened(record.sequence, record.event);
        if (happening) happenings.push(happening);
      }
    }
    if (happenings.length) this.happenings.value = [...this.happenings.peek(), ...happenings].slice(-MOST_HAPPENINGS);
    if (events.length > 200) await new Promise((resolve) => setTimeout(resolve));
  }

  private over() {
    this.state.value = "over";
    this.stream.stop();
  }

  private happened(key: string, event: JobEvent): Happening | undefined {
    const about = (text: string, tone: Happening["tone"]): Happening => ({
      key,
      text,
      tone,
      after_ms: undefined,
      instance: undefined,
    });
    if (event.log) return this.logged(key, event.log);
    if (event.placed) {
      this.instances.value = event.placed.instances.map((each, number) => ({
        number,
        host: each.host,
        cpus: each.binding?.cpus ?? "",
        state: "placed",
        said: "",
      }));
      return undefined;
    }
    if (event.restarting)
      return about(`starts again (${event.restarting.restart}): ${wordsOf(event.restarting.failed)}`, "warn");
    if (event.said) {
      this.output.say(event.said.line);
      return undefined;
    }
    if (event.outcome) {
      const good = event.outcome.exit_code === 0 && !event.outcome.failure;
      return about(wordsOf(event.outcome), good ? "ok" : "error");
    }
    return undefined;
  }

  private logged(key: string, entry: LogEntry): Happening | undefined {
    const { instance, kind } = entry;
    if (instance !== undefined && kind === "EVENT_INSTANCE_STARTED") this.note(instance, { state: "running" });
    if (instance !== undefined && kind === "EVENT_INSTANCE_ENDED")
      this.note(instance, { state: "ended", said: entry.text });
    if (kind === "EVENT_INSTANCE_CLOSED") return undefined;
    const tone = kind === "EVENT_WARNING" ? "warn" : kind === "EVENT_JOB_STARTING" ? "info" : "quiet";
    return { key, after_ms: Number(entry.after_ms), instance, text: entry.text, tone };
  }

  private note(number: number, change: Partial<Instance>) {
    const known = this.instances.peek();
    const before = known.find((each) => each.number === number) ?? {
      number,
      host: "",
      cpus: "",
      state: "placed",
      said: "",
    };
    const others = known.filter((each) => each.number !== number);
    this.instances.value = [...others, { ...before, ...change }].sort((a, b) => a.number - b.number);
  }
}

function wordsOf(outcome: Outcome | undefined): string {
  if (!outcome) return "it has ended";
  const { failure } = outcome;
  if (outcome.timed_out) return "its time was over";
  if (failure) return `${failure.instance !== undefined ? `instance ${failure.instance} ` : ""}${failure.reason}`;
  return outcome.exit_code === 0 ? "it has succeeded" : `it has ended with exit code ${outcome.exit_code}`;
}

export function afterText(ms: number | undefined): string {
  if (ms === undefined) return "";
  return ms < 10_000 ? `+${(ms / 1000).toFixed(1)} s` : `+${duration(ms)}`;
}
