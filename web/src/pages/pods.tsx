// SPDX-License-Identifier: Apache-2.0
// Each Pod as its machines and IPUs, and the partitions on them.
import { counted } from "../format";
import { Badge, Bar, Card, Empty, Loading, When } from "../parts/basics";
import { coloursOf, ildsOf } from "../pods/model";
import { Patterns, PodPicture } from "../pods/picture";
import { link, route, setQuery } from "../router";
import * as store from "../store";
import type { Cluster, Partition } from "../types";
import { usage } from "../usage";
import { partitionWord } from "../words";

function choose(partition: string) {
  setQuery({ partition });
}

function Holder({ partition }: { partition: Partition }) {
  if (partition.job !== "0") return <a href={link(["jobs", partition.job])}>job {partition.job}</a>;
  if (partition.holder) return <>{partition.holder}</>;
  return <span class="muted">nobody</span>;
}

function PartitionTable({
  cluster,
  partitions,
  colours,
  chosen,
}: {
  cluster: string;
  partitions: Partition[];
  colours: Map<string, number>;
  chosen: string;
}) {
  if (partitions.length === 0)
    return (
      <Empty title="There are no partitions" command="popctl create partition p16 --size 16">
        A job makes its own when it names one; or in a terminal:
      </Empty>
    );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Partitions of ${cluster}`}>
      <table>
        <thead>
          <tr>
            <th>Partition</th>
            <th>State</th>
            <th class="num">IPUs</th>
            <th class="num">GCDs</th>
            <th>Held by</th>
            <th>Owner</th>
            <th>Allocation</th>
            <th>Made</th>
          </tr>
        </thead>
        <tbody>
          {partitions.map((each) => (
            <tr key={each.id} class={each.id === chosen ? "chosen" : ""}>
              <td>
                <button
                  type="button"
                  class="pick"
                  aria-pressed={each.id === chosen}
                  onClick={() => choose(each.id === chosen ? "" : each.id)}
                >
                  <span class={`swatch p${colours.get(each.id) ?? 0}`} aria-hidden="true" />
                  {each.id}
                </button>
              </td>
              <td>
                <Badge word={partitionWord(each)} />
                {each.errors.length > 0 && <span class="cell-note">{each.errors.at(-1)}</span>}
              </td>
              <td class="num">{each.size}</td>
              <td class="num">{each.num_gcds}</td>
              <td>
                <Holder partition={each} />
              </td>
              <td>{each.owner}</td>
              <td>{each.allocation}</td>
              <td>
                <When time={each.created} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/// A partition as its programs see it; popdistd draws it.
function Topology({ partition }: { partition: string }) {
  return (
    <figure class="topology">
      <figcaption>{`Partition ${partition} as its programs see it`}</figcaption>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Topology of ${partition}`}>
        <img
          key={partition}
          src={`/v1/partitions/${encodeURIComponent(partition)}/topology.svg`}
          alt={`IPUs, links and replicas of partition ${partition}`}
        />
      </div>
    </figure>
  );
}

function Pod({ cluster }: { cluster: Cluster }) {
  const chosen = route.value.query.get("partition") ?? "";
  const all = [...store.partitions.value.values()];
  const colours = coloursOf(all);
  const partitions = all
    .filter((each) => each.cluster === cluster.id)
    .sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
  const agents = store.agents.value.filter((agent) => agent.cluster === cluster.id);
  const ilds = ildsOf(cluster, agents, partitions);
  const allocations = store.allocations.value.filter((each) => each.cluster === cluster.id);
  const topology = cluster.topology === "ILD_TORUS" ? "torus" : "mesh";
  const gateways =
    ilds.length > 1 ? `, joined ${cluster.gateways === "GATEWAY_RING" ? "as a ring" : "by a switch"}` : "";
  const ild_text = ilds.length > 1 ? `${ilds.length} IPU-Link domains of ` : "";
  return (
    <Card
      title={cluster.id}
      extra={
        <span class="muted">{`${ild_text}${counted(cluster.machines_per_ild ?? 16, "machine")}, ${topology}${gateways}`}</span>
      }
    >
      <div class="allocations">
        {allocations.map((each) => {
          const use = usage.ofAllocation(each);
          const capacity = each.capacity;
          return (
            <div key={each.id}>
              <h3>
                Allocation {each.id}
                <span class="muted">
                  {" "}
                  {each.users.length ? `of ${each.users.join(", ")}` : "of everybody"}; largest free block {use.largest}
                  {capacity && capacity.fragmentation > 0
                    ? `, ${Math.round(100 * capacity.fragmentation)} % fragmented`
                    : ""}
                </span>
              </h3>
              <Bar parts={use.parts} total={use.total} unit="IPUs" />
            </div>
          );
        })}
      </div>
      {ilds.map((ild) => {
        const owned = ild.ipus.filter((ipu) => ipu.partition).length;
        const name = ilds.length > 1 ? `${cluster.id}, IPU-Link domain ${ild.number}` : cluster.id;
        return (
          <div key={ild.number}>
            {ilds.length > 1 && <h3>IPU-Link domain {ild.number}</h3>}
            <PodPicture
              ild={ild}
              label={`${name}: ${owned} of ${ild.ipus.length} IPUs belong to partitions, which the table below lists`}
              colour={(id) => colours.get(id) ?? 0}
              chosen={chosen}
              choose={choose}
            />
          </div>
        );
      })}
      <PartitionTable cluster={cluster.id} partitions={partitions} colours={colours} chosen={chosen} />
      {partitions.some((each) => each.id === chosen) && <Topology partition={chosen} />}
    </Card>
  );
}

export function Pods() {
  if (!store.ready.value) return <Loading />;
  const clusters = store.clusters.value;
  return (
    <>
      <div class="page-head">
        <h1>Pods</h1>
        <span class="muted">
          {counted(clusters.length, "cluster")}, {counted(store.partitions.value.size, "partition")}
        </span>
      </div>
      {clusters.length === 0 && (
        <Empty
          title="There is no Pod that you may use"
          command={'curl --json \'{"id": "pod64"}\' https://HEAD:8091/v1/CreateCluster'}
        >
          An admin makes clusters, machines and allocations:
        </Empty>
      )}
      <Patterns />
      {clusters.map((cluster) => (
        <Pod key={cluster.id} cluster={cluster} />
      ))}
    </>
  );
}
