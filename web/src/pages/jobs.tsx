// SPDX-License-Identifier: Apache-2.0
// All jobs, by a filter that is in the address.
import { useEffect, useRef, useState } from "preact/hooks";
import { counted, number } from "../format";
import { useJobList, type JobFilter } from "../job_list";
import { Empty, Loading } from "../parts/basics";
import { Icon } from "../parts/icons";
import { isNarrow, JobHead, JobRow, NARROW_ROW_HEIGHT, ROW_HEIGHT } from "../parts/job_rows";
import { Rows } from "../parts/rows";
import { route, setQuery } from "../router";
import * as store from "../store";
import type { JobEnd, JobState } from "../types";
import { addressOfServer, jobsIn } from "../usage";

interface Kind {
  key: string;
  label: string;
  states: JobState[];
  ends: JobEnd[];
}

const KINDS: Kind[] = [
  { key: "", label: "All", states: [], ends: [] },
  { key: "running", label: "Running", states: ["JOB_STARTING", "JOB_RUNNING", "JOB_ENDING"], ends: [] },
  { key: "waiting", label: "Waiting", states: ["JOB_QUEUED", "JOB_HELD"], ends: [] },
  { key: "held", label: "Held", states: ["JOB_HELD"], ends: [] },
  { key: "ended", label: "Ended", states: ["JOB_ENDED"], ends: [] },
  { key: "failed", label: "Failed", states: [], ends: ["END_FAILED", "END_TIMED_OUT", "END_LOST"] },
  { key: "succeeded", label: "Succeeded", states: [], ends: ["END_SUCCEEDED"] },
  { key: "cancelled", label: "Cancelled", states: [], ends: ["END_CANCELLED"] },
];

const PAGE_SIZE = 200;
const TYPING_MS = 200;

/// Writes what is typed into the address when it rests.
export function SearchBox({ name, label }: { name: string; label: string }) {
  const [text, setText] = useState(route.value.query.get(name) ?? "");
  const box = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const inAddress = route.value.query.get(name) ?? "";
  useEffect(() => {
    if (document.activeElement !== box.current) setText(inAddress);
  }, [inAddress]);
  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ [name]: value.trim() }), TYPING_MS);
  };
  return (
    <label class="search">
      <Icon name="search" />
      <span class="visually-hidden">{label}</span>
      <input
        ref={box}
        type="search"
        data-search
        placeholder={label}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </label>
  );
}

function Chip({ name, value }: { name: string; value: string }) {
  return (
    <button
      type="button"
      class="chip"
      onClick={() => setQuery({ [name]: "" })}
      aria-label={`Do not filter by ${name} ${value}`}
    >
      {name}: {value} ×
    </button>
  );
}

export function Jobs() {
  const query = route.value.query;
  const kind = KINDS.find((each) => each.key === (query.get("show") ?? "")) ?? KINDS[0]!;
  const filter: JobFilter = {
    states: kind.states,
    ends: kind.ends,
    user: query.get("user") ?? "",
    host: query.get("host") ?? "",
    text: query.get("text") ?? "",
  };
  const list = useJobList(filter, PAGE_SIZE);
  const ids = list.ids.value;
  const total = jobsIn(kind.states, kind.ends);
  const narrowed = filter.user !== "" || filter.host !== "" || filter.text !== "";
  const found = list.complete.value
    ? counted(ids.length, "job")
    : narrowed
      ? `${number(ids.length)} jobs and more`
      : `${number(ids.length)} of ${counted(Math.max(total, ids.length), "job")} read`;
  return (
    <>
      <div class="page-head">
        <h1>Jobs</h1>
        <span class="muted" role="status">
          {list.error.value || (list.loading.value && ids.length === 0 ? "" : found)}
        </span>
      </div>
      <div class="filters">
        <div class="segments" role="group" aria-label="Which jobs">
          {KINDS.filter((each) => each === kind || each.key !== "held" || jobsIn(each.states) > 0).map((each) => (
            <button
              key={each.key}
              type="button"
              aria-pressed={each === kind}
              onClick={() => setQuery({ show: each.key })}
            >
              {each.label}{" "}
              {store.counts.value && <span class="segment-count">{number(jobsIn(each.states, each.ends))}</span>}
            </button>
          ))}
        </div>
        <SearchBox name="text" label="Search in id, name, user, command, reason" />
        {filter.user && <Chip name="user" value={filter.user} />}
        {filter.host && <Chip name="host" value={filter.host} />}
      </div>
      {ids.length === 0 && list.loading.value && <Loading />}
      {ids.length === 0 &&
        !list.loading.value &&
        (narrowed || kind.key !== "" ? (
          <Empty title="No job fits">
            <button type="button" class="button" onClick={() => setQuery({ show: "", text: "", user: "", host: "" })}>
              Show all jobs
            </button>
          </Empty>
        ) : (
          <Empty
            title="No job has been submitted yet"
            command={`POPDIST_SERVER=${addressOfServer()} popctl submit job --attach -- echo hello`}
          >
            In a terminal:
          </Empty>
        ))}
      {ids.length > 0 && (
        <div class="card flush job-table" role="table" aria-label="Jobs" aria-rowcount={ids.length + 1}>
          <div role="rowgroup">
            <JobHead />
          </div>
          <Rows
            items={ids}
            height={isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT}
            keyOf={(id) => id}
            row={(id) => <JobRow id={id} />}
            atEnd={() => void list.more()}
          />
        </div>
      )}
    </>
  );
}
