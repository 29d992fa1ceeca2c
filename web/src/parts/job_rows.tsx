// SPDX-License-Identifier: Apache-2.0
// A job as a row: wide, and as two lines where there is little room.
import { signal } from "@preact/signals";
import { link } from "../router";
import { jobSignal } from "../store";
import type { Job } from "../types";
import { commandText, isOver, jobWord } from "../words";
import { Badge, Took, When } from "./basics";

const narrow = matchMedia("(max-width: 760px)");
export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => (isNarrow.value = narrow.matches));

export const ROW_HEIGHT = 46;
export const NARROW_ROW_HEIGHT = 74;

export function JobHead() {
  return (
    <div class="job-row job-head" role="row">
      {["Job", "State", "Program", "User", "Hosts", "Submitted", "Took"].map((title) => (
        <span key={title} role="columnheader" class={`col-${title.toLowerCase()}`}>
          {title}
        </span>
      ))}
    </div>
  );
}

/// The note beside the state: the reason why it waits, or has failed.
export function noteOf(job: Job): string {
  if (job.conditions.length) return job.conditions[0]!;
  return job.state === "JOB_QUEUED" || (isOver(job) && job.end !== "END_SUCCEEDED") ? job.reason : "";
}

export function JobRow({ id }: { id: string }) {
  const job = jobSignal(id).value;
  if (!job) return <div class="job-row" role="row" />;
  const note = noteOf(job);
  const command = commandText(job.command);
  return (
    <div class="job-row" role="row">
      <span role="cell" class="col-job">
        <a class="row-link" href={link(["jobs", job.id])}>
          <span class="job-id">{job.id}</span> {job.name && <span class="job-name">{job.name}</span>}
        </a>
      </span>
      <span role="cell" class="col-state">
        <Badge word={jobWord(job)} />
      </span>
      <span role="cell" class="col-program" title={command}>
        <code>{command}</code>
        {note && (
          <span class="job-note" title={note}>
            {note}
          </span>
        )}
      </span>
      <span role="cell" class="col-user">
        {job.user}
      </span>
      <span role="cell" class="col-hosts" title={job.hosts.join(", ")}>
        {job.hosts.length > 1 ? `${job.hosts[0]} +${job.hosts.length - 1}` : (job.hosts[0] ?? "–")}
      </span>
      <span role="cell" class="col-submitted">
        <When time={job.submitted} />
      </span>
      <span role="cell" class="col-took">
        {job.started ? <Took from={job.started} to={job.ended} /> : "–"}
      </span>
    </div>
  );
}

/// A few jobs, without the columns that a small card has no room for.
export function JobLines({ ids }: { ids: readonly string[] }) {
  return (
    <ul class="job-lines">
      {ids.map((id) => (
        <JobLine key={id} id={id} />
      ))}
    </ul>
  );
}

function JobLine({ id }: { id: string }) {
  const job = jobSignal(id).value;
  if (!job) return null;
  return (
    <li>
      <a class="row-link" href={link(["jobs", job.id])}>
        <span class="job-id">{job.id}</span> <span class="job-name">{job.name || commandText(job.command)}</span>
      </a>
      <span class="job-line-user muted">{job.user}</span>
      <span class="job-line-time muted">
        {isOver(job) ? (
          <When time={job.ended} />
        ) : job.started ? (
          <Took from={job.started} />
        ) : (
          <When time={job.submitted} />
        )}
      </span>
      <Badge word={jobWord(job)} />
    </li>
  );
}
