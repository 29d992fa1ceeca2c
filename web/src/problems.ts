// SPDX-License-Identifier: Apache-2.0
// Problems of the cluster, the worst first.
import { computed } from "@preact/signals";
import { duration, timeOf } from "./format";
import { link } from "./router";
import * as store from "./store";
import type { Host } from "./types";

export interface Problem {
  key: string;
  severity: "error" | "warn";
  what: string;
  why: string;
  href: string;
}

const CLOCK_MS = 2000;

function ofHost(host: Host): Problem[] {
  const href = link(["hosts", host.name]);
  const problem = (severity: Problem["severity"], what: string, why: string): Problem[] => [
    { key: `host ${host.name} ${what}`, severity, what: `Host ${host.name} ${what}`, why, href },
  ];
  const heard = timeOf(host.last_heard);
  const silence = heard ? `last heard ${duration(store.now.value - heard)} ago` : "";
  if (host.state === "HOST_DOWN") return problem("error", "is down", silence);
  if (host.state === "HOST_SILENT") return problem("warn", "is silent", silence);
  if (host.drained) return problem("warn", "is drained", `by ${host.drained_by}: ${host.drain_reason}`);
  if (host.not_schedulable) return problem("warn", "takes no jobs", host.not_schedulable);
  if (host.slots_said)
    return problem("warn", "says too many slots", `${host.slots_said}; popdistd counts ${host.slots} (--most-slots)`);
  const ahead = Number(host.clock_ahead_ms);
  if (Math.abs(ahead) > CLOCK_MS)
    return problem(
      "warn",
      "has a wrong clock",
      `${duration(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} popdistd's`,
    );
  return [];
}

function ofDaemon(): Problem[] {
  const warnings = store.about.value?.warnings ?? [];
  return warnings.map((why) => ({ key: why, severity: "error", what: "popdistd warns", why, href: link(["about"]) }));
}

/// "m3, m4 and 12 more"
function named(ids: string[]): string {
  const shown = ids.slice(0, ids.length > 4 ? 3 : 4);
  return shown.join(", ") + (ids.length > shown.length ? ` and ${ids.length - shown.length} more` : "");
}

/// Machines that have the same trouble, as one.
function ofMachines(): Problem[] {
  const groups = new Map<string, { severity: Problem["severity"]; state: string; why: string; ids: string[] }>();
  for (const agent of store.agents.value) {
    if (!agent.lost && !agent.drained) continue;
    const state = agent.lost ? "lost" : "drained";
    const why = agent.lost ? `host ${agent.host} is down` : `by ${agent.drained_by}: ${agent.drain_reason}`;
    const group = groups.get(state + why) ?? { severity: agent.lost ? "error" : "warn", state, why, ids: [] };
    group.ids.push(agent.id);
    groups.set(state + why, group);
  }
  return [...groups.values()].map(({ severity, state, why, ids }) => ({
    key: `machines ${state} ${why}`,
    severity,
    what: ids.length === 1 ? `Machine ${ids[0]} is ${state}` : `Machines ${named(ids)} are ${state}`,
    why,
    href: link(["pods"]),
  }));
}

function ofPartitions(): Problem[] {
  const found: Problem[] = [];
  const bad: Record<string, string> = {
    PARTITION_ERROR: "has an error",
    PARTITION_FAILED: "has failed",
    PARTITION_QUARANTINE: "is in quarantine",
  };
  for (const each of store.partitions.value.values()) {
    const what = bad[each.state];
    if (!what) continue;
    const why =
      each.errors.at(-1) ??
      (each.state === "PARTITION_QUARANTINE" ? "it could not be proved that nobody uses its IPUs" : "");
    found.push({
      key: `partition ${each.id}`,
      severity: "error",
      what: `Partition ${each.id} ${what}`,
      why,
      href: link(["pods"], { partition: each.id }),
    });
  }
  return found;
}

function ofJobs(): Problem[] {
  return (store.counts.value?.troubled ?? []).map((job) => ({
    key: `job ${job.id}`,
    severity: "warn",
    what: `Job ${job.id}${job.name ? ` (${job.name})` : ""} is in trouble`,
    why: job.conditions.join("; "),
    href: link(["jobs", job.id]),
  }));
}

export const problems = computed<Problem[]>(() => {
  const all = [
    ...ofDaemon(),
    ...[...store.hosts.value.values()].flatMap(ofHost),
    ...ofMachines(),
    ...ofPartitions(),
    ...ofJobs(),
  ];
  return all.sort((a, b) => (a.severity === b.severity ? 0 : a.severity === "error" ? -1 : 1));
});
