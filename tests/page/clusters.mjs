// SPDX-License-Identifier: Apache-2.0
// The daemon's answers about clusters that are empty, usual and broken: for fake_daemon.mjs.

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

const log = (sequence, after_ms, text, kind, instance) => ({
  sequence: String(sequence),
  event: { log: { after_ms: String(after_ms), text, kind, ...(instance === undefined ? {} : { instance }) } },
});

const output = (sequence, instance, text) => ({
  sequence: String(sequence),
  output: { instance, is_stderr: text.includes("rror"), text: Buffer.from(text).toString("base64") },
});

function job(id, more = {}) {
  return {
    id: String(id),
    name: "",
    user: "alice",
    state: "JOB_RUNNING",
    end: "END_NONE",
    reason: "",
    conditions: [],
    submitted: ago(400),
    started: ago(300),
    hosts: ["node1"],
    attempt: 1,
    num_instances: 4,
    instances_running: 4,
    command: ["./train", "--epochs", "90"],
    priority: 0,
    revision: String(100 + id),
    restarts: 0,
    partition: "",
    ...more,
  };
}

function host(name, more = {}) {
  return {
    name,
    state: "HOST_UP",
    last_heard: ago(2),
    drained: false,
    drain_reason: "",
    drained_by: "",
    version: "0.1.0",
    num_cores: 64,
    num_memory_nodes: 2,
    memory_bytes: String(512 * 2 ** 30),
    slots: 64,
    slots_said: 0,
    jobs_running: 1,
    instances_running: 16,
    address: "10.0.0.7",
    not_schedulable: "",
    clock_ahead_ms: "3",
    revision: "20",
    ...more,
  };
}

function partition(id, first, size, more = {}) {
  const ipus = Array.from({ length: size }, (_, n) => ({ ild: 0, ipu: first + n, ild_routing_id: n, routing_id: n }));
  return {
    id,
    owner: "alice",
    cluster: "pod64",
    allocation: "team",
    state: "PARTITION_ACTIVE",
    vipu_state: "ACTIVE/IDLE",
    size,
    num_gcds: 1,
    num_replicas: 1,
    ipus,
    errors: [],
    job: "0",
    holder: "",
    goes_with_job: "0",
    created: ago(900 - first),
    changed: ago(60),
    gcd_hosts: [],
    revision: "30",
    ...more,
  };
}

function machine(position, more = {}) {
  return {
    id: `m${position}`,
    cluster: "pod64",
    ild: 0,
    position,
    host: `node${1 + (position >> 3)}`,
    ip: "10.0.0.7",
    lost: false,
    drained: false,
    drain_reason: "",
    drained_by: "",
    allocation: "team",
    ...more,
  };
}

/// Jobs of three users on three hosts and a Pod64.
export function normalCluster() {
  const agents = Array.from({ length: 16 }, (_, position) => machine(position));
  const jobs = [
    job(61, {
      name: "sweep-12",
      state: "JOB_QUEUED",
      started: undefined,
      hosts: [],
      user: "carol",
      reason: "it needs 32 IPUs, and the largest free block has 16",
      instances_running: 0,
      submitted: ago(130),
    }),
    job(60, {
      name: "sweep-11",
      state: "JOB_QUEUED",
      started: undefined,
      hosts: [],
      user: "carol",
      reason: "it needs 32 IPUs, and the largest free block has 16",
      instances_running: 0,
      submitted: ago(190),
    }),
    job(59, {
      name: "bert-large",
      partition: "bert",
      started: ago(5230),
      submitted: ago(5400),
      hosts: ["node1", "node2"],
      num_instances: 8,
      instances_running: 8,
    }),
    job(58, {
      name: "resnet-50",
      partition: "p8",
      user: "bob",
      started: ago(640),
      submitted: ago(650),
      hosts: ["node2"],
    }),
    job(57, {
      user: "carol",
      command: ["python3", "evaluate.py", "--model", "latest"],
      started: ago(71),
      submitted: ago(80),
      hosts: ["node3"],
      partition: "eval",
      num_instances: 2,
      instances_running: 2,
    }),
    ended(56, "END_SUCCEEDED", 300, { name: "resnet-49", user: "bob" }),
    ended(55, "END_FAILED", 900, { name: "sweep-10", user: "carol", reason: "instance 3 was killed by SIGSEGV" }),
    ended(54, "END_SUCCEEDED", 1500, { name: "sweep-9", user: "carol" }),
    ended(53, "END_CANCELLED", 4000, { name: "bert-large", reason: "cancelled by alice: wrong data" }),
    ended(52, "END_SUCCEEDED", 9000, { user: "bob", command: ["./prepare_data"] }),
  ];
  const partitions = [
    partition("bert", 0, 32, { job: "59", num_gcds: 8 }),
    partition("p8", 32, 8, { job: "58", owner: "bob", num_gcds: 2 }),
    partition("eval", 40, 4, { job: "57", owner: "carol" }),
    partition("idle", 44, 4, { owner: "carol" }),
  ];
  const busy = [
    host("node1", { instances_running: 4 }),
    host("node2", { instances_running: 8, jobs_running: 2 }),
    host("node3", { instances_running: 2 }),
  ];
  return {
    about: {
      version: "0.1.0",
      cluster_id: "c4",
      epoch: "7",
      started: ago(86_400 * 12),
      user: "alice",
      revision: "500",
      warnings: [],
    },
    hosts: busy.map((each) => ({ ...each, slots: 16, num_cores: 16 })),
    partitions,
    clusters: [
      {
        id: "pod64",
        num_ilds: 1,
        machines_per_ild: 16,
        topology: "ILD_TORUS",
        gateways: "GATEWAY_RING",
        num_agents: 16,
      },
    ],
    agents,
    allocations: [
      {
        id: "team",
        cluster: "pod64",
        agents: agents.map((each) => each.id),
        users: ["alice", "bob", "carol"],
        capacity: { ipus: 64, owned: 48, unusable: 0, free: 16, largest_free_block: 16, fragmentation: 0 },
      },
    ],
    jobs,
    waiting: [{ reason: jobs[0].reason, jobs: "2", first_job: "60", since: ago(190) }],
    troubled: [],
    events: { 59: trainingRecords() },
  };
}

function ended(id, end, seconds, more) {
  return job(id, {
    state: "JOB_ENDED",
    end,
    ended: ago(seconds),
    started: ago(seconds + 1240),
    submitted: ago(seconds + 1300),
    instances_running: 0,
    outcome: { exit_code: end === "END_SUCCEEDED" ? 0 : 1, why_not_again: "", restarts: 0 },
    ...more,
  });
}

function trainingRecords() {
  const placed = {
    instances: Array.from({ length: 8 }, (_, n) => ({
      host: n < 4 ? "node1" : "node2",
      binding: { cpus: `${4 * (n % 4)}-${4 * (n % 4) + 3}` },
    })),
  };
  const records = [{ sequence: "1", event: { placed } }, log(2, 170_000, "job is starting", "EVENT_JOB_STARTING")];
  for (let n = 0; n < 8; ++n)
    records.push(log(3 + n, 170_300 + 40 * n, `started, pid ${4711 + n}`, "EVENT_INSTANCE_STARTED", n));
  for (let n = 1; n < 60; ++n) {
    const rate = 11_200 + 300 * Math.sin(n / 3) + 40 * (n % 5);
    records.push(
      output(20 + 2 * n, 0, `step ${n * 100}: loss ${(7.1 / (1 + n / 12)).toFixed(4)}, ${rate.toFixed(0)} samples/s\n`),
    );
    if (n % 12 === 0)
      records.push(output(21 + 2 * n, n % 8, `checkpoint ${n * 100} written to /data/bert/${n * 100}.ckpt\n`));
  }
  return records;
}

/// Much that is wrong at once.
export function brokenCluster() {
  const agents = Array.from({ length: 16 }, (_, position) => machine(position, position >= 12 ? { lost: true } : {}));
  Object.assign(agents[8], { drained: true, drain_reason: "its fan is loud", drained_by: "root" });
  const down = {
    state: "HOST_DOWN",
    last_heard: ago(4000),
    not_schedulable: "host node2 is down",
    instances_running: 0,
    jobs_running: 0,
  };
  const drained = {
    drained: true,
    drain_reason: "new memory on Friday",
    drained_by: "root",
    not_schedulable: "host node4 is drained",
  };
  const jobs = [
    job(41, {
      state: "JOB_QUEUED",
      started: undefined,
      hosts: [],
      name: "night-run",
      reason: "partition 'p16' is held by job 40",
      instances_running: 0,
    }),
    job(40, { name: "resnet", partition: "p16", conditions: ["host node3 has been silent since 17:04:03"] }),
    job(39, {
      state: "JOB_ENDED",
      end: "END_FAILED",
      ended: ago(100),
      reason: "instance 2 was killed by SIGSEGV",
      outcome: { exit_code: 139, why_not_again: "", restarts: 0 },
    }),
    job(38, {
      state: "JOB_ENDED",
      end: "END_LOST",
      ended: ago(160),
      reason: "host node2 has not been heard of for 10 min",
      user: "bob",
    }),
    job(37, { state: "JOB_HELD", started: undefined, hosts: [], instances_running: 0 }),
  ];
  return {
    about: {
      version: "0.1.0",
      cluster_id: "c4",
      epoch: "7",
      started: ago(86_400 * 3),
      user: "root",
      revision: "500",
      warnings: ["the store could not be written: the disk is full"],
    },
    hosts: [
      host("node1"),
      host("node2", down),
      host("node3", { state: "HOST_SILENT", last_heard: ago(31), not_schedulable: "host node3 is silent" }),
      host("node4", drained),
      host("node5", { clock_ahead_ms: "-8400" }),
      host("node6", { slots_said: 100_000 }),
    ],
    partitions: [
      partition("p16", 0, 16, { job: "40", num_gcds: 4 }),
      partition("p8", 16, 8, { state: "PARTITION_QUARANTINE" }),
      partition("old", 48, 16, { state: "PARTITION_ERROR", errors: ["machine m12 is lost: host node2 is down"] }),
      partition("idle4", 28, 4, { owner: "bob" }),
    ],
    clusters: [
      {
        id: "pod64",
        num_ilds: 1,
        machines_per_ild: 16,
        topology: "ILD_TORUS",
        gateways: "GATEWAY_RING",
        num_agents: 16,
      },
    ],
    agents,
    allocations: [
      {
        id: "team",
        cluster: "pod64",
        agents: agents.map((each) => each.id),
        users: ["alice", "bob"],
        capacity: { ipus: 64, owned: 44, unusable: 4, free: 16, largest_free_block: 8, fragmentation: 0.5 },
      },
    ],
    jobs,
    waiting: [{ reason: "partition 'p16' is held by job 40", jobs: "1", first_job: "41", since: ago(400) }],
    troubled: [jobs[1]],
    events: { 39: failedEvents() },
  };
}

function failedEvents() {
  const placed = {
    instances: [0, 1, 2, 3].map((n) => ({ host: "node1", binding: { cpus: `${16 * n}-${16 * n + 15}` } })),
  };
  const records = [{ sequence: "1", event: { placed } }, log(2, 100_000, "starts on node1", "EVENT_JOB_STARTING")];
  for (let n = 0; n < 4; ++n)
    records.push(log(3 + n, 100_400 + n, "started with process id 47" + n, "EVENT_INSTANCE_STARTED", n));
  for (let n = 1; n < 40; ++n)
    records.push(
      output(
        10 + n,
        0,
        `epoch ${n}/90: loss ${(2.3 / (1 + n / 9)).toFixed(4)}, ${380_000 + 5000 * Math.round(3 * Math.sin(n))} samples/s\n`,
      ),
    );
  records.push(
    output(60, 2, "Error: loss is not a number\n"),
    log(61, 299_000, "was killed by SIGSEGV", "EVENT_INSTANCE_ENDED", 2),
  );
  for (const n of [0, 1, 3])
    records.push(log(62 + n, 299_500, "was stopped, since instance 2 had failed", "EVENT_INSTANCE_ENDED", n));
  records.push({
    sequence: "70",
    event: {
      outcome: {
        exit_code: 139,
        why_not_again: "",
        restarts: 0,
        failure: { instance: 2, reason: "was killed by SIGSEGV", exit_code: 139, host: "node1" },
      },
    },
  });
  return records;
}

export function emptyCluster() {
  return {
    about: {
      version: "0.1.0",
      cluster_id: "c0",
      epoch: "1",
      started: ago(40),
      user: "alice",
      revision: "1",
      warnings: [],
    },
    hosts: [],
    partitions: [],
    clusters: [],
    agents: [],
    allocations: [],
    jobs: [],
    waiting: [],
    troubled: [],
    events: {},
  };
}
