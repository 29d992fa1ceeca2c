// SPDX-License-Identifier: Apache-2.0
// A daemon that says what it is told to, for what takes a real one minutes or a real fault: hosts that are down,
// partitions in quarantine. It serves the page's files as popdistd/web/page has them.
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const page = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../popdistd/web/page");
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

export function job(id, more = {}) {
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

export function host(name, more = {}) {
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
    jobs_running: 1,
    instances_running: 16,
    address: "10.0.0.7",
    not_schedulable: "",
    clock_ahead_ms: "3",
    revision: "20",
    ...more,
  };
}

export function partition(id, first, size, more = {}) {
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

/// Much that is wrong at once.
export function brokenCluster() {
  const agents = Array.from({ length: 16 }, (_, position) => ({
    id: `m${position}`,
    cluster: "pod64",
    ild: 0,
    position,
    host: `node${1 + (position >> 3)}`,
    ip: "10.0.0.7",
    lost: position >= 12,
    drained: position === 8,
    drain_reason: position === 8 ? "its fan is loud" : "",
    drained_by: position === 8 ? "root" : "",
    allocation: "team",
  }));
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
  const log = (sequence, after_ms, text, kind, instance) => ({
    sequence: String(sequence),
    event: { log: { after_ms: String(after_ms), text, kind, ...(instance === undefined ? {} : { instance }) } },
  });
  const output = (sequence, instance, text) => ({
    sequence: String(sequence),
    output: { instance, is_stderr: text.includes("rror"), text: Buffer.from(text).toString("base64") },
  });
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

function countsOf(data) {
  const counts = new Map();
  for (const { state, end } of data.jobs) counts.set(`${state} ${end}`, (counts.get(`${state} ${end}`) ?? 0) + 1);
  return {
    counts: [...counts].map(([key, jobs]) => ({
      state: key.split(" ")[0],
      end: key.split(" ")[1],
      jobs: String(jobs),
    })),
    waiting: data.waiting,
    troubled: data.troubled,
    revision: "500",
  };
}

function jobsOf(data, query) {
  const states = query.get("state")?.split(",");
  const ends = query.get("end")?.split(",");
  const text = query.get("text") ?? "";
  const fits = (each) =>
    (!states || states.includes(each.state)) &&
    (!ends || ends.includes(each.end)) &&
    JSON.stringify(each).includes(text);
  return {
    jobs: data.jobs.filter((each) => fits(each) && (!query.get("host") || each.hosts.includes(query.get("host")))),
    next_page_token: "",
    revision: "500",
  };
}

export async function startFakeDaemon(data, port = 0) {
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    const [, , kind, id, part] = url.pathname.split("/");
    if (url.pathname === "/v1/watch" || part === "records") {
      response.setHeader("content-type", "text/event-stream").write(": alive\n\n");
      for (const record of data.events[id] ?? [])
        response.write(`id: ${record.sequence}\ndata: ${JSON.stringify(record)}\n\n`);
      if (part === "records" && data.events[id]) response.end('event: end\ndata: {"code":0,"message":""}\n\n');
      return;
    }
    if (kind === "About") return json(data.about);
    if (kind === "counts") return json(countsOf(data));
    if (kind === "jobs" && id) return json(data.jobs.find((each) => each.id === id));
    if (kind === "jobs") return json(jobsOf(data, url.searchParams));
    if (data[kind]) return json({ [kind]: data[kind], revision: "500" });
    const file = url.pathname === "/" ? "index.html" : path.basename(url.pathname);
    response.setHeader(
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
    );
    response
      .setHeader("content-type", TYPES[path.extname(file)] ?? "text/plain")
      .end(await readFile(path.join(page, file)).catch(() => ""));
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    stop: () => (server.closeAllConnections(), server.close()),
  };
}
