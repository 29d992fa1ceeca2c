// SPDX-License-Identifier: Apache-2.0
// An admin's first look: is anything wrong, how full is it, what waits and why.
import { Bar, Card, Command, Empty, Loading, Tile, When } from "../parts/basics";
import { Icon } from "../parts/icons";
import { JobLines } from "../parts/job_rows";
import { counted, number } from "../format";
import { ALL, useJobList, type JobFilter } from "../job_list";
import { problems } from "../problems";
import { link } from "../router";
import * as store from "../store";
import { addressOfServer, usage } from "../usage";

const RUNNING: JobFilter = { ...ALL, states: ["JOB_RUNNING", "JOB_STARTING", "JOB_ENDING"] };
const ENDED: JobFilter = { ...ALL, states: ["JOB_ENDED"] };
const MOST_PROBLEMS = 8;

function Health() {
  const found = problems.value;
  const about = store.about.value;
  if (found.length === 0 && store.hosts.value.size === 0) {
    return (
      <section class="health fair" aria-label="Is anything wrong">
        <span class="health-icon">
          <Icon name="warn" />
        </span>
        <div>
          <h2>No host has joined</h2>
          <p class="muted">Jobs wait until one has. popdistd {about?.version} itself is well.</p>
        </div>
      </section>
    );
  }
  if (found.length === 0) {
    return (
      <section class="health good" aria-label="Is anything wrong">
        <span class="health-icon">
          <Icon name="check" />
        </span>
        <div>
          <h2>Nothing is wrong</h2>
          <p class="muted">
            {counted(store.hosts.value.size, "host")}, popdistd {about?.version}, started <When time={about?.started} />
          </p>
        </div>
      </section>
    );
  }
  const errors = found.filter((each) => each.severity === "error").length;
  return (
    <section class={`health ${errors ? "bad" : "fair"}`} aria-label="Is anything wrong">
      <span class="health-icon">
        <Icon name="warn" />
      </span>
      <div class="health-list">
        <h2>{counted(found.length, "thing needs", "things need")} a look</h2>
        <ul>
          {found.slice(0, MOST_PROBLEMS).map((each) => (
            <li key={each.key} class={`problem ${each.severity}`}>
              <a href={each.href}>{each.what}</a> {each.why && <span class="muted">{each.why}</span>}
            </li>
          ))}
          {found.length > MOST_PROBLEMS && (
            <li class="muted">and {found.length - MOST_PROBLEMS} more: see hosts and Pods</li>
          )}
        </ul>
      </div>
    </section>
  );
}

function Tiles() {
  const { running, waiting, held, failed } = usage.jobs.value;
  const slots = usage.slots.value;
  const ipus = usage.ipus.value;
  const up = [...store.hosts.value.values()].filter((host) => host.state === "HOST_UP").length;
  return (
    <div class="tiles">
      <Tile
        label="Running"
        value={number(running)}
        note={counted(slots.used, "instance")}
        href={link(["jobs"], { show: "running" })}
        tone={running ? "info" : "quiet"}
      />
      <Tile
        label="Waiting"
        value={number(waiting + held)}
        note={held ? `${number(held)} held` : ""}
        href={link(["jobs"], { show: "waiting" })}
        tone={waiting ? "warn" : "quiet"}
      />
      <Tile
        label="Failed"
        value={number(failed)}
        note="of jobs that are kept"
        href={link(["jobs"], { show: "failed" })}
        tone={failed ? "error" : "quiet"}
      />
      <Tile
        label="Hosts up"
        value={`${up} of ${store.hosts.value.size}`}
        note={`${number(slots.total - slots.used)} slots free`}
        href={link(["hosts"])}
        tone={up < store.hosts.value.size ? "warn" : up ? "ok" : "quiet"}
      />
      <Tile
        label="IPUs free"
        value={number(ipus.free)}
        note={`largest block ${number(ipus.largest)}`}
        href={link(["pods"])}
        tone="quiet"
      />
    </div>
  );
}

function HowFull() {
  const slots = usage.slots.value;
  const allocations = store.allocations.value;
  return (
    <Card title="How full">
      <div class="stack">
        {allocations.map((each) => {
          const use = usage.ofAllocation(each);
          return (
            <div key={each.id}>
              <h3>
                <a href={link(["pods"])}>IPUs of {each.id}</a>
                <span class="muted"> largest free block {use.largest}</span>
              </h3>
              <Bar parts={use.parts} total={use.total} unit="IPUs" />
            </div>
          );
        })}
        {slots.total > 0 && (
          <div>
            <h3>
              <a href={link(["hosts"])}>Slots of hosts</a>
            </h3>
            <Bar
              parts={[
                { label: "used", value: Math.min(slots.used, slots.total), kind: "used" },
                { label: "not usable", value: slots.unusable, kind: "bad" },
                { label: "free", value: Math.max(0, slots.total - slots.used - slots.unusable), kind: "free" },
              ]}
              total={slots.total}
              unit="slots"
            />
          </div>
        )}
        {allocations.length === 0 && slots.total === 0 && <Empty title="There is nothing to fill yet" />}
      </div>
    </Card>
  );
}

function Waits() {
  const waiting = store.counts.value?.waiting ?? [];
  const held = usage.jobs.value.held;
  return (
    <Card title="What waits, and why" extra={<a href={link(["jobs"], { show: "waiting" })}>all that wait</a>}>
      {waiting.length === 0 && held === 0 && <Empty title="No job waits" />}
      <ul class="reasons">
        {waiting.map((each) => (
          <li key={each.reason}>
            <a
              class="reason-count"
              href={link(["jobs"], { show: "waiting", text: each.reason })}
              aria-label={`${counted(Number(each.jobs), "job")}: ${each.reason}`}
            >
              {number(Number(each.jobs))}
            </a>
            <span>
              {each.reason || "for its turn"}
              <span class="muted">
                {" "}
                first: <a href={link(["jobs", each.first_job])}>job {each.first_job}</a>, <When time={each.since} />
              </span>
            </span>
          </li>
        ))}
        {held > 0 && (
          <li>
            <a class="reason-count" href={link(["jobs"], { show: "held" })} aria-label={`${counted(held, "job")} held`}>
              {number(held)}
            </a>
            <span>
              held: <code>popctl release job N</code> lets one start
            </span>
          </li>
        )}
      </ul>
    </Card>
  );
}

function Jobs({ title, filter, show, empty }: { title: string; filter: JobFilter; show: string; empty: string }) {
  const list = useJobList(filter, 8);
  const ids = list.ids.value.slice(0, 8);
  return (
    <Card title={title} extra={<a href={link(["jobs"], { show })}>all {title.toLowerCase()}</a>}>
      {ids.length ? <JobLines ids={ids} /> : list.loading.value ? <Loading /> : <Empty title={empty} />}
    </Card>
  );
}

function FirstSteps() {
  const server = addressOfServer();
  if (store.hosts.value.size === 0)
    return (
      <Card title="Next: let a host join">
        <p>On each host that is to run jobs:</p>
        <Command text={`popdist-agent serve --controller ${server} --tls DIRECTORY --users FILE`} />
      </Card>
    );
  if ((store.counts.value?.counts.length ?? 0) > 0) return null;
  return (
    <Card title="Next: start a job">
      <p>Nothing has run yet. In a terminal:</p>
      <Command text={`export POPDIST_SERVER=${server}`} />
      <Command text="popctl submit job --attach -- echo hello" />
    </Card>
  );
}

export function Overview() {
  if (!store.ready.value) return <Loading />;
  return (
    <>
      <h1 class="visually-hidden">Overview</h1>
      <Health />
      <FirstSteps />
      <Tiles />
      <div class="columns">
        <HowFull />
        <Waits />
        <Jobs title="Running" filter={RUNNING} show="running" empty="No job runs" />
        <Jobs title="Ended" filter={ENDED} show="ended" empty="No job has ended" />
      </div>
    </>
  );
}
