// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/timeline.h"

#include "common/base/check.h"
#include "pod/clock/link_traffic.h"

namespace pop::pod {

void forEachRound(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
                  std::uint64_t count, std::size_t element_bytes,
                  const std::function<void(const Round&)>& visit) {
  POP_CHECK(schedule.replicas == layout.replicas);
  if (count == 0 || layout.replicas == 1) return;
  const std::uint64_t block_bytes = blockBytes(layout, schedule, count, element_bytes);
  LinkTraffic traffic(topology);
  Round round;
  const Take take = [&](const Transfer& transfer) {
    traffic.add(layout, transfer, block_bytes);
    round.copies.push_back(transfer);
  };
  for (const Phase& phase : schedule.phases) {
    round.phase = phase.name;
    for (int of_phase = 0; of_phase < phase.rounds; ++of_phase) {
      phase.transfers(of_phase, take);
      for (const int link : traffic.used()) round.links.push_back({link, traffic.bytesOn(link)});
      round.transfers = traffic.finishRound(1);
      round.cost = roundCost(layout);
      visit(round);
      round.begin = sumOf(round.begin, sumOf(round.transfers, round.cost));
      ++round.number;
      round.links.clear();
      round.copies.clear();
    }
  }
}

}  // namespace pop::pod
