// SPDX-License-Identifier: Apache-2.0
// A job's history: its phases side by side, and event by event.
import { useState } from "preact/hooks";
import { absolute, duration, timeOf } from "../format";
import { Card } from "../parts/basics";
import { now } from "../store";
import type { Job } from "../types";
import { isOver, jobWord } from "../words";
import { afterText, type Happening, type JobRecords } from "./records";

const FEW = 12;

interface Phase {
  name: string;
  ms: number;
  kind: string;
}

function phasesOf(job: Job, until: number): Phase[] {
  const submitted = timeOf(job.submitted);
  if (submitted === undefined) return [];
  const started = timeOf(job.started);
  const end = timeOf(job.ended) ?? until;
  const phases: Phase[] = [
    { name: job.state === "JOB_HELD" ? "held" : "waited", ms: (started ?? end) - submitted, kind: "waited" },
  ];
  if (started !== undefined)
    phases.push({
      name: isOver(job) ? "ran" : "runs",
      ms: end - started,
      kind: isOver(job) && job.end !== "END_SUCCEEDED" ? "failed" : "ran",
    });
  return phases;
}

function Phases({ job }: { job: Job }) {
  const phases = phasesOf(job, now.value);
  const total = Math.max(
    1,
    phases.reduce((sum, each) => sum + Math.max(0, each.ms), 0),
  );
  return (
    <div class="phases">
      {phases.map((each) => (
        <div key={each.name} class={`phase ${each.kind}`} style={{ flexGrow: Math.max(0.12, each.ms / total) }}>
          <span class="phase-bar" aria-hidden="true" />
          <span>
            {each.name} {duration(each.ms)}
          </span>
        </div>
      ))}
    </div>
  );
}

function ownHappenings(job: Job): { first: Happening; last: Happening | undefined } {
  const at = (time: string | undefined) => {
    const value = timeOf(time);
    return value === undefined ? "" : ` at ${absolute(value)}`;
  };
  const none = { after_ms: undefined, instance: undefined };
  const last = isOver(job)
    ? {
        ...none,
        key: "end",
        text: `${jobWord(job).text}${at(job.ended)}${job.reason ? `: ${job.reason}` : ""}`,
        tone: jobWord(job).tone,
      }
    : undefined;
  return {
    first: {
      ...none,
      key: "submitted",
      after_ms: 0,
      text: `submitted by ${job.user}${at(job.submitted)}`,
      tone: "info",
    },
    last,
  };
}

export function Timeline({ job, records }: { job: Job; records: JobRecords }) {
  const [all, setAll] = useState(false);
  const { first, last } = ownHappenings(job);
  const happenings = [first, ...records.happenings.value, ...(last ? [last] : [])];
  const hidden = all ? 0 : Math.max(0, happenings.length - FEW);
  const shown = hidden ? [...happenings.slice(0, 3), ...happenings.slice(3 + hidden)] : happenings;
  return (
    <Card title="Timeline">
      <Phases job={job} />
      <ol class="events">
        {shown.map((each, index) => (
          <li key={each.key} class={`event tone-${each.tone}`}>
            {hidden > 0 && index === 3 && (
              <button type="button" class="more" onClick={() => setAll(true)}>
                {hidden} more
              </button>
            )}
            <span class="event-time">{afterText(each.after_ms)}</span>
            <span>
              {each.instance !== undefined && <span class="event-who">instance {each.instance}</span>} {each.text}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

export function Instances({ records }: { records: JobRecords }) {
  const [all, setAll] = useState(false);
  const instances = records.instances.value;
  void records.output.version.value;
  if (instances.length === 0) return null;
  const shown = all ? instances : instances.slice(0, 16);
  return (
    <Card
      title="Instances"
      extra={
        <span class="muted">
          {instances.filter((each) => each.state === "running").length} of {instances.length} run
        </span>
      }
    >
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of instances">
        <table class="compact">
          <thead>
            <tr>
              <th class="num">No.</th>
              <th>Host</th>
              <th>CPUs</th>
              <th>State</th>
              <th>Last line</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <tr key={each.number}>
                <td class="num">{each.number}</td>
                <td>{each.host}</td>
                <td>{each.cpus || "–"}</td>
                <td>{each.state === "ended" ? each.said : each.state}</td>
                <td class="last-line">
                  <code>{records.output.last_of.get(each.number) ?? ""}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < instances.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          all {instances.length}
        </button>
      )}
    </Card>
  );
}
