// SPDX-License-Identifier: Apache-2.0
// One job: what becomes of it, what it writes, and what can be done with it.
import type { ComponentChild } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { call, get } from "../api";
import { Throughput } from "../job/chart";
import { Output } from "../job/output";
import { JobRecords } from "../job/records";
import { Instances, Timeline } from "../job/timeline";
import { act, ask } from "../parts/ask";
import { Badge, Card, Command, Facts, Loading, Missing, Took, When } from "../parts/basics";
import { link } from "../router";
import * as store from "../store";
import type { Job } from "../types";
import { addressOfServer } from "../usage";
import { commandText, isOver, jobTitle, jobWord, mayHold } from "../words";

function cancel(job: Job) {
  const again = job.state === "JOB_ENDING";
  ask({
    title: again ? `Kill job ${job.id}?` : `Cancel job ${job.id}?`,
    text: again
      ? "It was told to stop and has not ended yet. This kills its programs at once."
      : isWaiting(job)
        ? `${jobTitle(job)} of ${job.user} has not started. It ends at once.`
        : `${jobTitle(job)} of ${job.user} runs. Its programs are asked to stop, and killed if they do not.`,
    yes: again ? "Kill it" : "Cancel the job",
    reason: "Reason, for its owner (may be empty)",
    act: async (reason) => {
      store.putJob(await call<Job>("Cancel", { job: { id: job.id }, reason }));
      return `Job ${job.id} was told to end.`;
    },
  });
}

function isWaiting(job: Job): boolean {
  return job.state === "JOB_QUEUED" || job.state === "JOB_HELD";
}

function doNow(method: "Hold" | "Release", job: Job, done: string) {
  void act(async () => {
    store.putJob(await call<Job>(method, { id: job.id }));
    return `Job ${job.id} ${done}.`;
  });
}

function Head({ job }: { job: Job }) {
  return (
    <div class="page-head">
      <a class="crumb" href={link(["jobs"])}>
        Jobs
      </a>
      <h1>
        <span class="muted">{job.id}</span> {jobTitle(job)}
      </h1>
      <Badge word={jobWord(job)} />
      <span class="grow" />
      {mayHold(job) && (
        <button type="button" class="button" onClick={() => doNow("Hold", job, "is held")}>
          Hold
        </button>
      )}
      {job.state === "JOB_HELD" && (
        <button type="button" class="button" onClick={() => doNow("Release", job, "may start")}>
          Release
        </button>
      )}
      {!isOver(job) && (
        <button type="button" class="button danger" onClick={() => cancel(job)}>
          {job.state === "JOB_ENDING" ? "Kill…" : "Cancel…"}
        </button>
      )}
    </div>
  );
}

function Notices({ job }: { job: Job }) {
  const bad = isOver(job) && job.end !== "END_SUCCEEDED" && job.end !== "END_CANCELLED";
  return (
    <>
      {job.conditions.map((each) => (
        <p key={each} class="notice error">
          {each}
        </p>
      ))}
      {job.state === "JOB_QUEUED" && <p class="notice warn">It waits: {job.reason || "for its turn"}</p>}
      {job.state === "JOB_HELD" && <p class="notice warn">It is held, until it is released.</p>}
      {isOver(job) && job.end !== "END_SUCCEEDED" && job.reason && (
        <p class={`notice ${bad ? "error" : "warn"}`}>{job.reason}</p>
      )}
    </>
  );
}

function Details({ job }: { job: Job }) {
  const partition = job.partition ? <a href={link(["pods"], { partition: job.partition })}>{job.partition}</a> : "none";
  const hosts = job.hosts.length
    ? job.hosts.map((host, index) => (
        <>
          {index > 0 && ", "}
          <a key={host} href={link(["hosts", host])}>
            {host}
          </a>
        </>
      ))
    : "–";
  return (
    <Card title="About it">
      <Facts
        rows={[
          ["User", <a href={link(["jobs"], { user: job.user })}>{job.user}</a>],
          ["Submitted", <When time={job.submitted} />],
          ...(job.expected_start
            ? [["Expected to start", <When time={job.expected_start} />] as [string, ComponentChild]]
            : []),
          ["Started", <When time={job.started} />],
          [isOver(job) ? "Ran" : "Runs for", <Took from={job.started} to={job.ended} />],
          ["Hosts", <>{hosts}</>],
          [
            "Instances",
            isOver(job) ? String(job.num_instances) : `${job.instances_running} of ${job.num_instances} run`,
          ],
          ["Partition", partition],
          ...(job.allocation ? [["Allocation", job.allocation] as [string, string]] : []),
          ...(job.priority ? [["Priority", String(job.priority)] as [string, string]] : []),
          ...(job.restarts ? [["Restarts", String(job.restarts)] as [string, string]] : []),
          ...(job.outcome ? [["Exit code", String(job.outcome.exit_code)] as [string, string]] : []),
        ]}
      />
    </Card>
  );
}

function Commands({ job }: { job: Job }) {
  const server = `POPDIST_SERVER=${addressOfServer()}`;
  const count = job.num_instances > 1 ? ` -np ${job.num_instances}` : "";
  const hosts = job.hosts.length > 1 ? ` --hosts ${job.hosts.length}` : "";
  return (
    <Card title="In a terminal">
      <Command
        label={isOver(job) ? "command to read its output" : "command to attach"}
        text={`${server} popctl ${isOver(job) ? "logs" : "attach"} job ${job.id}`}
      />
      <Command
        label="command to run it again"
        text={`${server} popctl submit job${hosts}${count} -- ${commandText(job.command)}`}
      />
    </Card>
  );
}

function KnownJob({ job }: { job: Job }) {
  const records = useMemo(() => new JobRecords(job.id), [job.id]);
  useEffect(() => () => records.stop(), [records]);
  const values = job.values ?? [];
  useEffect(() => records.series.addReported(values), [records, JSON.stringify(values)]);
  return (
    <>
      <Head job={job} />
      <p class="job-command">
        <code>{commandText(job.command)}</code>
      </p>
      <Notices job={job} />
      <div class="job-columns">
        <div class="stack">
          <Output id={job.id} records={records} />
          <Throughput table={records.series} />
          <Instances records={records} />
        </div>
        <div class="stack">
          <Details job={job} />
          <Timeline job={job} records={records} />
          <Commands job={job} />
        </div>
      </div>
    </>
  );
}

/// By its number, or its name.
export function JobPage({ name }: { name: string }) {
  const [id, setId] = useState(/^\d+$/.test(name) ? name : "");
  const [problem, setProblem] = useState("");
  const job = id ? store.jobSignal(id).value : undefined;
  useEffect(() => {
    get<Job>(`/v1/jobs/${encodeURIComponent(name)}`).then(
      (found) => (store.putJob(found), setId(found.id)),
      (error: Error) => setProblem(error.message),
    );
  }, [name, store.resyncs.value]);
  if (job) return <KnownJob job={job} key={job.id} />;
  if (problem)
    return (
      <Missing title={problem}>
        <a href={link(["jobs"])}>All jobs</a>
      </Missing>
    );
  return <Loading />;
}
