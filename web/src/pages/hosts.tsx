// SPDX-License-Identifier: Apache-2.0
// The hosts, and one of them with its jobs.
import { bytes, counted } from "../format";
import { ALL, useJobList } from "../job_list";
import { act, ask } from "../parts/ask";
import { Badge, Card, Empty, Facts, Loading, Missing, When } from "../parts/basics";
import { JobLines } from "../parts/job_rows";
import { call } from "../api";
import { link, route } from "../router";
import * as store from "../store";
import type { Host } from "../types";
import { addressOfServer } from "../usage";
import { hostWord } from "../words";

/// The reason for a host's state, in words.
function noteOf(host: Host): string {
  if (host.drained) return `drained by ${host.drained_by}: ${host.drain_reason}`;
  if (host.not_schedulable || !host.slots_said) return host.not_schedulable;
  return `it says that it has ${host.slots_said} slots; popdistd counts ${host.slots} (--most-slots)`;
}

function Slots({ host }: { host: Host }) {
  const share = host.slots ? Math.min(1, host.instances_running / host.slots) : 0;
  return (
    <span class="meter-cell">
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
      {host.instances_running} of {host.slots}
    </span>
  );
}

function drain(host: Host) {
  ask({
    title: `Drain host ${host.name}?`,
    text: "It gets no new jobs. What runs there goes on.",
    yes: "Drain",
    reason: "Why, for those who wait",
    act: async (reason) => {
      await call("Drain", { host: { name: host.name }, reason });
      return `Host ${host.name} is drained.`;
    },
  });
}

function resume(host: Host) {
  void act(async () => {
    await call("Resume", { name: host.name });
    return `Host ${host.name} takes jobs again.`;
  });
}

function OneHost({ name }: { name: string }) {
  const host = store.hosts.value.get(name);
  const list = useJobList({ ...ALL, host: name }, 20);
  if (!host)
    return (
      <Missing title={`There is no host ${name}`}>
        <a href={link(["hosts"])}>All hosts</a>
      </Missing>
    );
  const note = noteOf(host);
  return (
    <>
      <div class="page-head">
        <a class="crumb" href={link(["hosts"])}>
          Hosts
        </a>
        <h1>{host.name}</h1>
        <Badge word={hostWord(host)} />
        <span class="grow" />
        {host.drained ? (
          <button type="button" class="button" onClick={() => resume(host)}>
            Resume
          </button>
        ) : (
          <button type="button" class="button" onClick={() => drain(host)}>
            Drain…
          </button>
        )}
      </div>
      {note && <p class="notice warn">{note}</p>}
      <div class="columns">
        <Card title="About it">
          <Facts
            rows={[
              ["Slots in use", <Slots host={host} />],
              ["Jobs", String(host.jobs_running)],
              ["Cores", `${host.num_cores} on ${counted(host.num_memory_nodes, "memory node")}`],
              ["Memory", bytes(Number(host.memory_bytes))],
              ["Address", host.address || "–"],
              ["Version", host.version],
              ["Last heard", <When time={host.last_heard} />],
              ["Clock", Math.abs(Number(host.clock_ahead_ms)) < 1000 ? "right" : `${host.clock_ahead_ms} ms ahead`],
            ]}
          />
        </Card>
        <Card title="Its jobs" extra={<a href={link(["jobs"], { host: name })}>all of them</a>}>
          {list.ids.value.length ? (
            <JobLines ids={list.ids.value.slice(0, 20)} />
          ) : list.loading.value ? (
            <Loading />
          ) : (
            <Empty title="No job has run there" />
          )}
        </Card>
      </div>
    </>
  );
}

export function Hosts() {
  const name = route.value.parts[1];
  if (!store.ready.value) return <Loading />;
  if (name !== undefined) return <OneHost name={name} key={name} />;
  const hosts = [...store.hosts.value.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return (
    <>
      <div class="page-head">
        <h1>Hosts</h1>
        <span class="muted">{counted(hosts.length, "host")}</span>
      </div>
      {hosts.length === 0 ? (
        <Empty
          title="No host has joined"
          command={`popdist-agent serve --controller ${addressOfServer()} --tls DIRECTORY --users FILE`}
        >
          On each host that is to run jobs:
        </Empty>
      ) : (
        <div class="card flush scroll" tabIndex={0} role="region" aria-label="Hosts">
          <table>
            <thead>
              <tr>
                <th>Host</th>
                <th>State</th>
                <th>Slots in use</th>
                <th class="num">Jobs</th>
                <th class="num">Cores</th>
                <th class="num">Memory</th>
                <th>Version</th>
                <th>Last heard</th>
              </tr>
            </thead>
            <tbody>
              {hosts.map((host) => (
                <tr key={host.name}>
                  <td>
                    <a class="row-link" href={link(["hosts", host.name])}>
                      {host.name}
                    </a>
                  </td>
                  <td>
                    <Badge word={hostWord(host)} />
                    {noteOf(host) && <span class="cell-note">{noteOf(host)}</span>}
                  </td>
                  <td>
                    <Slots host={host} />
                  </td>
                  <td class="num">{host.jobs_running}</td>
                  <td class="num">{host.num_cores}</td>
                  <td class="num">{bytes(Number(host.memory_bytes))}</td>
                  <td>{host.version}</td>
                  <td>
                    <When time={host.last_heard} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
