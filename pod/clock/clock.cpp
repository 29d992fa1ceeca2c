// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/clock.h"

#include <cmath>

#include "common/base/check.h"
#include "pod/clock/link_traffic.h"

namespace pop::pod {

Picoseconds roundCost(const ReplicaLayout& layout) {
  // poplibs, setGlobalSyncLatency: 15 ns a hop, there and back, over 1 + floor(rows / 2) hops.
  const int rows = (layout.ipusPerIld() + 1) / 2;
  const auto hops = static_cast<std::uint64_t>(1 + rows / 2);
  return sumOf(layout.spec.step_cost, productOf(layout.spec.sync_hop_latency, 2 * hops));
}

CollectiveTime simulate(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
                        std::uint64_t count, std::size_t element_bytes) {
  POP_CHECK(schedule.replicas == layout.replicas);
  CollectiveTime time;
  if (count == 0 || layout.replicas == 1) return time;
  const std::uint64_t block_bytes = blockBytes(layout, schedule, count, element_bytes);
  LinkTraffic traffic(topology);
  const Take take = [&](const Transfer& transfer) { traffic.add(layout, transfer, block_bytes); };
  for (const Phase& phase : schedule.phases) {
    for (const RoundClass& alike : phase.classes) {
      phase.transfers(alike.round, take);
      const Picoseconds round = sumOf(traffic.finishRound(alike.times), roundCost(layout));
      time.total = sumOf(time.total, productOf(round, static_cast<std::uint64_t>(alike.times)));
      time.rounds += alike.times;
    }
  }
  time.bytes_on_busiest_link = traffic.maxBytes();
  return time;
}

std::optional<Picoseconds> computeTime(const PodSpec& spec, double flops, int ipus_per_replica) {
  POP_CHECK(flops >= 0 && ipus_per_replica >= 1);
  const double seconds = flops / (spec.ipu_peak_flops_per_s * spec.achieved_fraction * ipus_per_replica);
  const double picoseconds = std::ceil(seconds * 1e12);
  if (picoseconds >= static_cast<double>(kMostCounted)) return {};
  return Picoseconds(static_cast<std::int64_t>(picoseconds));
}

}  // namespace pop::pod
