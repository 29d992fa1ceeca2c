// SPDX-License-Identifier: Apache-2.0
// Jobs that fit a filter, the newest first: read page by page, then kept up to date by what changes.
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get } from "./api";
import * as store from "./store";
import type { Job, JobEnd, JobsReply, JobState } from "./types";

export interface JobFilter {
  states: JobState[]; // none: all
  ends: JobEnd[]; // likewise
  user: string; // empty: all
  host: string;
  text: string;
}

export const ALL: JobFilter = { states: [], ends: [], user: "", host: "", text: "" };

/// The daemon's filter, repeated here.
export function matches(job: Job, filter: JobFilter): boolean {
  if (filter.states.length && !filter.states.includes(job.state)) return false;
  if (filter.ends.length && !filter.ends.includes(job.end)) return false;
  if (filter.user && job.user !== filter.user) return false;
  if (filter.host && !job.hosts.includes(filter.host)) return false;
  if (!filter.text) return true;
  const wanted = filter.text.toLowerCase();
  const texts = [job.id, job.name, job.user, job.reason, job.hosts[0] ?? "", ...job.command];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

export class JobList {
  readonly ids = signal<readonly string[]>([]);
  readonly complete = signal(false);
  readonly loading = signal(true);
  readonly error = signal("");
  private token = "";
  private known = new Set<string>();
  private abort = new AbortController();
  private reading: Promise<void> = Promise.resolve();
  private revision = ""; // as of which the first page was read
  private changed_meanwhile = new Set<string>(); // since the page that is read was asked for

  constructor(
    private readonly filter: JobFilter,
    private readonly page_size: number,
  ) {}

  /// Reads the first page; what is shown stays until it is there.
  async load() {
    this.abort.abort();
    this.abort = new AbortController();
    this.token = "";
    this.revision = "";
    await (this.reading = this.read(true));
  }

  /// Changes from `since` on will be told: reads the first page anew unless it is at least as new.
  async sync(since: string) {
    await this.reading;
    if (this.revision === "" || store.isNewer(since, this.revision)) await this.load();
  }

  async more() {
    if (this.loading.peek() || this.complete.peek()) return;
    await this.read(false);
  }

  listen(): () => void {
    store.jobListeners.add(this.changed);
    return () => {
      this.abort.abort();
      store.jobListeners.delete(this.changed);
    };
  }

  private async read(anew: boolean) {
    const abort = this.abort;
    this.loading.value = true;
    this.changed_meanwhile = new Set();
    const { states, ends, user, host, text } = this.filter;
    const query = new URLSearchParams({ brief: "1", page_size: String(this.page_size) });
    const parts = { state: states.join(), end: ends.join(), user, host, text, page_token: this.token };
    for (const [name, value] of Object.entries(parts)) if (value) query.set(name, value);
    try {
      const page = await get<JobsReply>(`/v1/jobs?${query}`, abort.signal);
      if (abort.signal.aborted) return;
      for (const job of page.jobs) store.putJob(job);
      const ids = page.jobs.filter((job) => anew || !this.known.has(job.id)).map((job) => job.id);
      this.ids.value = anew ? ids : [...this.ids.peek(), ...ids];
      this.known = new Set(this.ids.peek());
      this.token = page.next_page_token;
      if (anew) this.revision = page.revision;
      this.complete.value = this.token === "";
      this.error.value = "";
      for (const id of this.changed_meanwhile) this.changed(id, store.jobSignal(id).peek());
    } catch (error) {
      if (abort.signal.aborted) return;
      this.error.value = (error as Error).message;
    }
    this.loading.value = false;
  }

  // The answer that is under way may be older than the change.
  private changed = (id: string, job: Job | undefined) => {
    this.changed_meanwhile.add(id);
    const is_here = this.known.has(id);
    const belongs = job !== undefined && matches(job, this.filter);
    if (is_here === belongs) return;
    const ids = this.ids.peek();
    if (is_here) {
      this.known.delete(id);
      this.ids.value = ids.filter((each) => each !== id);
      return;
    }
    const at = ids.findIndex((each) => Number(each) < Number(id));
    if (at < 0 && !this.complete.peek()) return; // A later page has it.
    this.known.add(id);
    this.ids.value = at < 0 ? [...ids, id] : [...ids.slice(0, at), id, ...ids.slice(at)];
  };
}

/// The list of this filter, as long as the component is there.
export function useJobList(filter: JobFilter, page_size: number): JobList {
  const key = JSON.stringify(filter);
  const list = useMemo(() => new JobList(filter, page_size), [key]);
  const resyncs = store.resyncs.value;
  useEffect(() => list.listen(), [list]);
  useEffect(() => {
    void (resyncs > 0 ? list.sync(store.since.peek()) : list.load());
  }, [list, resyncs]);
  return list;
}
