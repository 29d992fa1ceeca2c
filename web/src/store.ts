// SPDX-License-Identifier: Apache-2.0
// The page's knowledge of the cluster, each thing with the revision of its last change. live.ts keeps it up to date.
import { batch, signal, type Signal } from "@preact/signals";
import type { About, Agent, Allocation, Change, Cluster, Counts, Host, Job, Partition } from "./types";

export interface Connection {
  state: "connecting" | "live" | "lost" | "nobody";
  since: number;
  why: string;
}

export const connection = signal<Connection>({ state: "connecting", since: Date.now(), why: "" });
export const about = signal<About | undefined>(undefined);
export const counts = signal<Counts | undefined>(undefined);
export const hosts = signal<ReadonlyMap<string, Host>>(new Map());
export const partitions = signal<ReadonlyMap<string, Partition>>(new Map());
export const clusters = signal<Cluster[]>([]);
export const agents = signal<Agent[]>([]);
export const allocations = signal<Allocation[]>([]);
/// True once all of the above has been read.
export const ready = signal(false);
/// One more with each resync: lists read themselves anew, if they are older than `since`.
export const resyncs = signal(0);
export const since = signal("0");

/// The second that it is, while the page is seen.
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => (now.value = Date.now()));

export function isNewer(revision: string, than: string): boolean {
  return revision.length !== than.length ? revision.length > than.length : revision > than;
}

// ---- jobs: those that a view shows, or that have changed meanwhile

const jobs = new Map<string, Signal<Job | undefined>>();
export type JobListener = (id: string, job: Job | undefined) => void;
export const jobListeners = new Set<JobListener>();

/// undefined: it is not known yet, or was forgotten.
export function jobSignal(id: string): Signal<Job | undefined> {
  let found = jobs.get(id);
  if (!found) jobs.set(id, (found = signal<Job | undefined>(undefined)));
  return found;
}

export function putJob(job: Job) {
  const known = jobSignal(job.id);
  const before = known.peek();
  if (before && !isNewer(job.revision, before.revision)) return;
  known.value = job;
  for (const listener of jobListeners) listener(job.id, job);
}

function forgetJob(id: string) {
  jobSignal(id).value = undefined;
  for (const listener of jobListeners) listener(id, undefined);
}

// ---- changes

type Named = { revision: string };

function put<T extends Named>(map: Signal<ReadonlyMap<string, T>>, id: string, value: T) {
  const before = map.peek().get(id);
  if (before && !isNewer(value.revision, before.revision)) return;
  map.value = new Map(map.peek()).set(id, value);
}

function remove<T>(map: Signal<ReadonlyMap<string, T>>, id: string) {
  const next = new Map(map.peek());
  if (next.delete(id)) map.value = next;
}

/// The summaries that are not true any more.
export interface Stale {
  counts: boolean;
  inventory: boolean;
}

export function apply(changes: Change[]): Stale {
  const stale: Stale = { counts: false, inventory: false };
  batch(() => {
    for (const change of changes) {
      if (change.job) putJob(change.job);
      else if (change.job_forgotten) forgetJob(change.job_forgotten);
      else if (change.host) put(hosts, change.host.name, change.host);
      else if (change.host_removed) remove(hosts, change.host_removed);
      else if (change.partition) put(partitions, change.partition.id, change.partition);
      else if (change.partition_removed) remove(partitions, change.partition_removed);
      stale.counts ||= change.job !== undefined || change.job_forgotten !== undefined;
      stale.inventory ||= (change.inventory ?? change.partition ?? change.partition_removed) !== undefined;
    }
  });
  return stale;
}
