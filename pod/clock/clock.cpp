// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/check.h"
#include "pod/system/numbering.h"
#include "pod/system/routes.h"

namespace pop::pod {
namespace {

// Bytes on each link: of this round, and of all.
class LinkTraffic {
 public:
  explicit LinkTraffic(const Topology& topology)
      : topology_(topology), in_round_(topology.links().size()), in_total_(topology.links().size()) {}

  void add(int from_ipu, int to_ipu, std::uint64_t bytes) {
    const Route way = route(topology_, from_ipu, to_ipu);
    most_hops_ = std::max(most_hops_, way.size());
    for (const int id : way) {
      std::uint64_t& load = in_round_[static_cast<std::size_t>(id)];
      if (load == 0) used_.push_back(id);
      load += bytes;
    }
  }

  // Ends the round, which there are `times` of: the time of its busiest link.
  Picoseconds finishRound(int times) {
    Picoseconds longest{0};
    for (const int id : used_) {
      const auto at = static_cast<std::size_t>(id);
      longest = std::max(longest, transferTime(in_round_[at], topology_.links()[at].bytes_per_s));
      in_total_[at] += in_round_[at] * static_cast<std::uint64_t>(times);
      in_round_[at] = 0;
    }
    longest += topology_.spec().link_latency * static_cast<std::int64_t>(most_hops_);
    used_.clear();
    most_hops_ = 0;
    return longest;
  }

  std::uint64_t maxBytes() const { return *std::ranges::max_element(in_total_); }

 private:
  const Topology& topology_;
  std::vector<std::uint64_t> in_round_;
  std::vector<std::uint64_t> in_total_;
  std::vector<int> used_;
  std::size_t most_hops_ = 0;
};

}  // namespace

Picoseconds roundCost(const ReplicaLayout& layout) {
  // poplibs, setGlobalSyncLatency: 15 ns a hop, there and back, over 1 + floor(rows / 2) hops.
  const int rows = (layout.ipusPerIld() + 1) / 2;
  return layout.spec.step_cost + layout.spec.sync_hop_latency * 2 * (1 + rows / 2);
}

CollectiveTime simulate(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
                        std::uint64_t count, std::size_t element_bytes) {
  POP_CHECK(schedule.replicas == layout.replicas);
  CollectiveTime time;
  if (count == 0 || layout.replicas == 1) return time;
  const auto ipus = static_cast<std::uint64_t>(layout.ipus_per_replica);
  const std::uint64_t block_bytes =
      (count + schedule.blocks * ipus - 1) / (schedule.blocks * ipus) * element_bytes;
  LinkTraffic traffic(topology);
  const Take take = [&](const Transfer& transfer) {
    const int from = firstIpuOf(transfer.from, layout.ipus_per_replica);
    const int to = firstIpuOf(transfer.to, layout.ipus_per_replica);
    for (int ipu = 0; ipu < layout.ipus_per_replica; ++ipu)
      traffic.add(from + ipu, to + ipu, transfer.blocks * block_bytes);
  };
  for (const Phase& phase : schedule.phases) {
    for (const RoundClass& alike : phase.classes) {
      phase.transfers(alike.round, take);
      const Picoseconds round = traffic.finishRound(alike.times) + roundCost(layout);
      time.total += round * alike.times;
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
  if (picoseconds >= 0x1p63) return {};
  return Picoseconds(static_cast<std::int64_t>(picoseconds));
}

}  // namespace pop::pod
