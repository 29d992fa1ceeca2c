// SPDX-License-Identifier: Apache-2.0
// The use of the cluster, by the contents of the store.
import { computed } from "@preact/signals";
import type { BarPart } from "./parts/basics";
import * as store from "./store";
import type { Allocation, JobEnd, JobState } from "./types";

const BAD_ENDS: JobEnd[] = ["END_FAILED", "END_TIMED_OUT", "END_LOST"];

/// The number of jobs in one of these states that have ended in one of these ways; none: any.
export function jobsIn(states: JobState[], ends: JobEnd[] = []): number {
  let sum = 0;
  for (const each of store.counts.value?.counts ?? []) {
    if ((states.length === 0 || states.includes(each.state)) && (ends.length === 0 || ends.includes(each.end)))
      sum += Number(each.jobs);
  }
  return sum;
}

export const usage = {
  jobs: computed(() => ({
    running: jobsIn(["JOB_STARTING", "JOB_RUNNING", "JOB_ENDING"]),
    waiting: jobsIn(["JOB_QUEUED"]),
    held: jobsIn(["JOB_HELD"]),
    failed: jobsIn([], BAD_ENDS),
  })),

  /// A job alone on its host may have more instances than slots.
  slots: computed(() => {
    const sum = { total: 0, used: 0, unusable: 0 };
    for (const host of store.hosts.value.values()) {
      sum.total += host.slots;
      sum.used += host.instances_running;
      if (host.not_schedulable) sum.unusable += Math.max(0, host.slots - host.instances_running);
    }
    return sum;
  }),

  ipus: computed(() => {
    const sum = { free: 0, largest: 0 };
    for (const { capacity } of store.allocations.value) {
      sum.free += capacity?.free ?? 0;
      sum.largest = Math.max(sum.largest, capacity?.largest_free_block ?? 0);
    }
    return sum;
  }),

  ofAllocation(allocation: Allocation): { parts: BarPart[]; total: number; largest: number } {
    let used = 0;
    let idle = 0;
    let bad = 0;
    for (const each of store.partitions.value.values()) {
      if (each.allocation !== allocation.id) continue;
      if (["PARTITION_ERROR", "PARTITION_FAILED", "PARTITION_QUARANTINE"].includes(each.state)) bad += each.size;
      else if (each.job !== "0" || each.holder) used += each.size;
      else idle += each.size;
    }
    const capacity = allocation.capacity;
    return {
      parts: [
        { label: "used by jobs", value: used, kind: "used" },
        { label: "held idle", value: idle, kind: "idle" },
        { label: "in error", value: bad, kind: "bad" },
        { label: "not usable", value: capacity?.unusable ?? 0, kind: "off" },
        { label: "free", value: capacity?.free ?? 0, kind: "free" },
      ],
      total: capacity?.ipus ?? 0,
      largest: capacity?.largest_free_block ?? 0,
    };
  },
};

/// The daemon's address for popctl, as far as a page can know.
export function addressOfServer(): string {
  return `${location.hostname}:8090`;
}
