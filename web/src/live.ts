// SPDX-License-Identifier: Apache-2.0
// Keeps the store up to date: everything once, then what changes. When the daemon cannot tell what has changed, or the
// connection was lost for long, everything once more.
import { batch } from "@preact/signals";
import { ApiError, call, get, Stream, type StreamEvent } from "./api";
import * as store from "./store";
import type { About, Agent, Allocation, Change, Cluster, Counts, Host, Partition } from "./types";

const COUNTS_EVERY_MS = 1000;
const INVENTORY_EVERY_MS = 500;

let stream: Stream | undefined;
let revision = "0";
let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

function isState(state: store.Connection["state"], why = "") {
  const before = store.connection.peek();
  if (before.state === state && before.why === why) return;
  store.connection.value = { state, why, since: before.state === state ? before.since : Date.now() };
}

async function readInventory() {
  const [clusters, agents, allocations] = await Promise.all([
    get<{ clusters: Cluster[] }>("/v1/clusters"),
    get<{ agents: Agent[] }>("/v1/agents"),
    get<{ allocations: Allocation[] }>("/v1/allocations"),
  ]);
  batch(() => {
    store.clusters.value = clusters.clusters;
    store.agents.value = agents.agents;
    store.allocations.value = allocations.allocations;
  });
}

async function readCounts() {
  store.counts.value = await get<Counts>("/v1/counts");
}

/// A copy was put back, or another cluster is there: nothing that is known can be compared with it.
function isAnotherStore(about: About): boolean {
  const before = store.about.peek();
  return before !== undefined && (before.cluster_id !== about.cluster_id || Number(about.epoch) < Number(before.epoch));
}

async function readAll() {
  const [about, hosts, partitions, counts] = await Promise.all([
    call<About>("About", {}),
    get<{ hosts: Host[]; revision: string }>("/v1/hosts"),
    get<{ partitions: Partition[]; revision: string }>("/v1/partitions"),
    get<Counts>("/v1/counts"),
    readInventory(),
  ]);
  if (isAnotherStore(about)) location.reload();
  const revisions = [about.revision, hosts.revision, partitions.revision, counts.revision];
  revision = revisions.reduce((least, each) => (store.isNewer(least, each) ? each : least));
  batch(() => {
    store.about.value = about;
    store.counts.value = counts;
    store.hosts.value = new Map(hosts.hosts.map((host) => [host.name, host]));
    store.partitions.value = new Map(partitions.partitions.map((each) => [each.id, each]));
    store.ready.value = true;
    store.since.value = revision;
    store.resyncs.value++;
  });
}

/// At most once in `every_ms`, and once more when it was asked for meanwhile.
function throttled(task: () => Promise<void>, every_ms: number) {
  let runs = false;
  let wanted = false;
  return async function ask() {
    wanted = true;
    if (runs) return;
    runs = true;
    while (wanted) {
      wanted = false;
      await task().catch(() => {}); // The stream tells when the daemon has gone.
      await new Promise((resolve) => setTimeout(resolve, every_ms));
    }
    runs = false;
  };
}

const refreshCounts = throttled(readCounts, COUNTS_EVERY_MS);
const refreshInventory = throttled(readInventory, INVENTORY_EVERY_MS);
const refreshAbout = throttled(async () => {
  store.about.value = await call<About>("About", {});
}, 10_000);

function take(events: StreamEvent[]) {
  const changes: Change[] = [];
  for (const event of events) {
    if (event.name === "end") continue;
    const change = JSON.parse(event.data) as Change;
    if (change.snapshot_begins) return void start();
    if (event.id) revision = event.id;
    changes.push(change);
  }
  const stale = store.apply(changes);
  if (stale.counts) void refreshCounts();
  if (stale.inventory) void refreshInventory();
}

function watch() {
  stream?.stop();
  stream = new Stream({
    path: () => `/v1/watch?since=${revision}`,
    take,
    opened: () => {
      if (store.connection.peek().state === "lost") void refreshAbout();
      isState("live");
    },
    lost: (why) => isState("lost", why.message),
    refused: (why) => isState(why.status === 401 ? "nobody" : "lost", why.message),
  });
}

/// Reads everything, and goes on with what changes. Tries again until it works.
export async function start() {
  stream?.stop();
  clearTimeout(retry);
  try {
    await readAll();
    failures = 0;
    watch();
  } catch (error) {
    const why = error instanceof ApiError ? error : new ApiError(0, String(error));
    if (why.status === 401) return isState("nobody", why.message);
    isState("lost", why.message);
    retry = setTimeout(() => void start(), Math.min(10_000, 500 * 2 ** failures++));
  }
}

export function retryNow() {
  void start();
}
