// SPDX-License-Identifier: Apache-2.0
// The daemon's messages as its JSON has them: proto/popdist/v1. 64-bit numbers are texts there.

export type Time = string; // RFC 3339

export type JobState = "JOB_QUEUED" | "JOB_HELD" | "JOB_STARTING" | "JOB_RUNNING" | "JOB_ENDING" | "JOB_ENDED";
export type JobEnd = "END_NONE" | "END_SUCCEEDED" | "END_FAILED" | "END_CANCELLED" | "END_TIMED_OUT" | "END_LOST";

export interface Outcome {
  exit_code: number;
  user_signal: number;
  timed_out: boolean;
  failure?: { instance?: number; reason: string; exit_code: number; host: string };
  why_not_again: string;
  restarts: number;
}

export interface Job {
  id: string;
  name: string;
  user: string;
  state: JobState;
  end: JobEnd;
  reason: string;
  conditions: string[];
  submitted?: Time;
  started?: Time;
  ended?: Time;
  hosts: string[];
  attempt: number;
  num_instances: number;
  instances_running: number;
  command: string[];
  priority: number;
  outcome?: Outcome;
  revision: string;
  restarts: number;
  partition: string;
  allocation?: string;
  expected_start?: Time;
  values?: Value[];
}

/// The last values that a job's instances have reported.
export interface Value {
  name: string;
  fold: "FOLD_SUM" | "FOLD_MEAN" | "FOLD_MAX";
  value: number;
  instances: number;
}

export interface JobsReply {
  jobs: Job[];
  next_page_token: string;
  revision: string;
}

export interface Counts {
  counts: { state: JobState; end: JobEnd; jobs: string }[];
  waiting: { reason: string; jobs: string; first_job: string; since?: Time }[];
  troubled: Job[];
  revision: string;
}

export interface Host {
  name: string;
  state: "HOST_UP" | "HOST_SILENT" | "HOST_DOWN";
  last_heard?: Time;
  drained: boolean;
  drain_reason: string;
  drained_by: string;
  drained_at?: Time;
  version: string;
  num_cores: number;
  num_memory_nodes: number;
  memory_bytes: string;
  slots: number;
  slots_said: number;
  jobs_running: number;
  instances_running: number;
  address: string;
  not_schedulable: string;
  clock_ahead_ms: string;
  revision: string;
}

export interface Cluster {
  id: string;
  num_ilds?: number;
  machines_per_ild?: number;
  topology: "ILD_MESH" | "ILD_TORUS";
  gateways: "GATEWAY_RING" | "GATEWAY_SWITCHED";
}

export interface Agent {
  id: string;
  cluster: string;
  ild: number;
  position: number;
  host: string;
  ip: string;
  lost: boolean;
  drained: boolean;
  drain_reason: string;
  drained_by: string;
  allocation: string;
}

export interface Allocation {
  id: string;
  cluster: string;
  agents: string[];
  users: string[];
  capacity?: {
    ipus: number;
    owned: number;
    unusable: number;
    free: number;
    largest_free_block: number;
    fragmentation: number;
  };
}

export type PartitionState =
  | "PARTITION_CREATING"
  | "PARTITION_ACTIVE"
  | "PARTITION_RESETTING"
  | "PARTITION_ERROR"
  | "PARTITION_FAILED"
  | "PARTITION_REMOVING"
  | "PARTITION_QUARANTINE";

export interface Partition {
  id: string;
  owner: string;
  cluster: string;
  allocation: string;
  state: PartitionState;
  vipu_state: string;
  size: number;
  num_gcds: number;
  num_replicas: number;
  ipus: { ild: number; ipu: number; ild_routing_id: number; routing_id: number }[];
  errors: string[];
  job: string;
  holder: string;
  goes_with_job: string;
  created?: Time;
  changed?: Time;
  gcd_hosts: string[];
  revision: string;
}

export interface About {
  version: string;
  cluster_id: string;
  epoch: string;
  started?: Time;
  user: string;
  warnings: string[];
  revision: string;
}

export interface Change {
  revision: string;
  snapshot_begins?: object;
  snapshot_ends?: object;
  job?: Job;
  job_forgotten?: string;
  host?: Host;
  host_removed?: string;
  partition?: Partition;
  partition_removed?: string;
  inventory?: object;
}

export interface LogEntry {
  after_ms: string;
  instance?: number;
  text: string;
  kind:
    | "EVENT_NOTE"
    | "EVENT_WARNING"
    | "EVENT_JOB_STARTING"
    | "EVENT_INSTANCE_STARTED"
    | "EVENT_INSTANCE_ENDED"
    | "EVENT_INSTANCE_CLOSED";
}

export interface JobEvent {
  log?: LogEntry;
  placed?: { instances: { host: string; binding?: { cpus?: string } }[] };
  restarting?: { failed?: Outcome; restart: number };
  said?: { line: string };
  outcome?: Outcome;
}

export interface JobRecord {
  sequence: string;
  event?: JobEvent;
  output?: { instance: number; is_stderr: boolean; text: string }; // base64
  dropped_bytes?: string;
}
