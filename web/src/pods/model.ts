// SPDX-License-Identifier: Apache-2.0
// The place and the owner of each IPU of a Pod. An IPU-Link domain (ILD) is two columns of IPUs: IPU 0 at the bottom
// left, IPU 1 to its right, then row by row upwards; two rows make a machine.
import type { Agent, Cluster, Partition } from "../types";

export const IPUS_PER_MACHINE = 4;
export const COLOURS = 12;

export interface Ipu {
  number: number; // in its ILD
  row: number; // 0 at the bottom
  column: number;
  agent: Agent | undefined; // the machine that it is on
  partition: Partition | undefined;
  routing_id: number;
  gcd: number;
}

export interface Link {
  from: Ipu;
  to: Ipu;
  loop: boolean; // from the top back to the bottom
}

export interface Ild {
  number: number;
  machines: number;
  ipus: Ipu[];
  links: Link[];
}

/// A colour for each partition, 0 to COLOURS - 1, which it keeps while those that were made before it stay.
export function coloursOf(partitions: Iterable<Partition>): Map<string, number> {
  const sorted = [...partitions].sort(
    (a, b) => (a.created ?? "").localeCompare(b.created ?? "") || a.id.localeCompare(b.id),
  );
  const taken = new Array<number>(COLOURS).fill(0);
  const colours = new Map<string, number>();
  for (const { id } of sorted) {
    let hash = 0;
    for (const char of id) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
    const least = Math.min(...taken);
    let colour = hash % COLOURS;
    while (taken[colour]! > least) colour = (colour + 1) % COLOURS;
    taken[colour]!++;
    colours.set(id, colour);
  }
  return colours;
}

function linksOf(ipus: Ipu[], rows: number, cluster: Cluster): Link[] {
  const links: Link[] = [];
  const at = (row: number, column: number) => ipus[2 * row + column]!;
  for (let row = 0; row < rows; ++row) {
    links.push({ from: at(row, 0), to: at(row, 1), loop: false });
    for (const column of [0, 1]) {
      if (row + 1 < rows) links.push({ from: at(row, column), to: at(row + 1, column), loop: false });
      else if (cluster.topology === "ILD_TORUS") links.push({ from: at(row, column), to: at(0, column), loop: true });
    }
  }
  return links;
}

export function ildsOf(cluster: Cluster, agents: Agent[], partitions: Iterable<Partition>): Ild[] {
  const machines = cluster.machines_per_ild ?? 16;
  const ilds: Ild[] = [];
  for (let number = 0; number < (cluster.num_ilds ?? 1); ++number) {
    const ipus: Ipu[] = [];
    for (let ipu = 0; ipu < machines * IPUS_PER_MACHINE; ++ipu)
      ipus.push({
        number: ipu,
        row: ipu >> 1,
        column: ipu & 1,
        agent: undefined,
        partition: undefined,
        routing_id: 0,
        gcd: 0,
      });
    ilds.push({ number, machines, ipus, links: linksOf(ipus, machines * 2, cluster) });
  }
  for (const agent of agents) {
    if (agent.cluster !== cluster.id) continue;
    for (let k = 0; k < IPUS_PER_MACHINE; ++k) {
      const ipu = ilds[agent.ild]?.ipus[agent.position * IPUS_PER_MACHINE + k];
      if (ipu) ipu.agent = agent;
    }
  }
  for (const partition of partitions) {
    if (partition.cluster !== cluster.id) continue;
    const ipus_per_gcd = Math.max(1, partition.size / Math.max(1, partition.num_gcds));
    for (const place of partition.ipus) {
      const ipu = ilds[place.ild]?.ipus[place.ipu];
      if (!ipu) continue;
      ipu.partition = partition;
      ipu.routing_id = place.routing_id;
      ipu.gcd = Math.floor(place.routing_id / ipus_per_gcd);
    }
  }
  return ilds;
}

/// "hatched" is an IPU that cannot be used now.
export function lookOf(ipu: Ipu): "free" | "owned" | "bad" | "off" | "missing" {
  if (!ipu.agent) return "missing";
  if (ipu.partition)
    return ["PARTITION_ERROR", "PARTITION_FAILED", "PARTITION_QUARANTINE"].includes(ipu.partition.state)
      ? "bad"
      : "owned";
  return ipu.agent.lost ? "bad" : ipu.agent.drained ? "off" : "free";
}

export function textOf(ipu: Ipu): string {
  const parts = [`IPU ${ipu.number}`];
  if (!ipu.agent) return `${parts[0]}: no machine is there`;
  parts.push(`machine ${ipu.agent.id}${ipu.agent.host ? ` of host ${ipu.agent.host}` : ""}`);
  if (ipu.agent.lost) parts.push("lost");
  if (ipu.agent.drained) parts.push(`drained: ${ipu.agent.drain_reason}`);
  if (!ipu.partition) return `${parts.join(", ")}: free`;
  const { id, job, holder } = ipu.partition;
  const who = job !== "0" ? `, job ${job}` : holder ? `, held by ${holder}` : "";
  return `${parts.join(", ")}: partition ${id}, routing id ${ipu.routing_id}, GCD ${ipu.gcd}${who}`;
}
