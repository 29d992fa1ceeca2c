// SPDX-License-Identifier: Apache-2.0
// States as words and tones.
import type { Host, Job, Partition } from "./types";

export type Tone = "ok" | "info" | "warn" | "error" | "quiet";
export interface Word {
  text: string;
  tone: Tone;
}

export function jobWord(job: Job): Word {
  switch (job.state) {
    case "JOB_QUEUED":
      return { text: "queued", tone: "warn" };
    case "JOB_HELD":
      return { text: "held", tone: "warn" };
    case "JOB_STARTING":
      return { text: "starting", tone: "info" };
    case "JOB_RUNNING":
      return job.conditions.length ? { text: "unreachable", tone: "error" } : { text: "running", tone: "info" };
    case "JOB_ENDING":
      return { text: "ending", tone: "info" };
    case "JOB_ENDED":
      return endWord(job);
  }
}

function endWord(job: Job): Word {
  switch (job.end) {
    case "END_SUCCEEDED":
      return { text: "succeeded", tone: "ok" };
    case "END_CANCELLED":
      return { text: "cancelled", tone: "quiet" };
    case "END_TIMED_OUT":
      return { text: "timed out", tone: "error" };
    case "END_LOST":
      return { text: "lost", tone: "error" };
    default:
      return { text: "failed", tone: "error" };
  }
}

export function hostWord(host: Host): Word {
  if (host.state === "HOST_DOWN") return { text: "down", tone: "error" };
  if (host.state === "HOST_SILENT") return { text: "silent", tone: "warn" };
  if (host.drained) return { text: "drained", tone: "warn" };
  if (host.not_schedulable) return { text: "takes no jobs", tone: "warn" };
  return { text: "up", tone: "ok" };
}

export function partitionWord(partition: Partition): Word {
  switch (partition.state) {
    case "PARTITION_ACTIVE":
      return partition.job !== "0" || partition.holder
        ? { text: "in use", tone: "info" }
        : { text: "active", tone: "ok" };
    case "PARTITION_CREATING":
      return { text: "being made", tone: "info" };
    case "PARTITION_RESETTING":
      return { text: "resetting", tone: "info" };
    case "PARTITION_REMOVING":
      return { text: "being removed", tone: "warn" };
    case "PARTITION_ERROR":
      return { text: "error", tone: "error" };
    case "PARTITION_FAILED":
      return { text: "failed", tone: "error" };
    case "PARTITION_QUARANTINE":
      return { text: "quarantine", tone: "error" };
  }
}

export function isOver(job: Job): boolean {
  return job.state === "JOB_ENDED";
}

export function mayHold(job: Job): boolean {
  return job.state === "JOB_QUEUED";
}

/// The command in a shell's notation, so that it can be copied.
export function commandText(words: string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

export function jobTitle(job: Job): string {
  return job.name || commandText(job.command.slice(0, 3)) || `job ${job.id}`;
}
