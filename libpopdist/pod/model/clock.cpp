// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/clock.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/check.h"
#include "libpopdist/pod/model/numbering.h"
#include "libpopdist/pod/model/routes.h"

namespace popdist::pod {
namespace {

/// Bytes on each link: in this round, and since the start.
class LinkTraffic {
 public:
  explicit LinkTraffic(const ReplicaLayout& layout)
      : layout_(layout),
        topology_(layout.spec),
        in_round_(topology_.links().size()),
        in_total_(topology_.links().size()) {}

  void addMessage(int from_replica, int to_replica, std::uint64_t bytes) {
    const auto ipus = static_cast<std::uint64_t>(layout_.ipus_per_replica);
    const std::uint64_t ipu_bytes = (bytes + ipus - 1) / ipus;
    for (int ipu = 0; ipu < layout_.ipus_per_replica; ++ipu) {
      addTransfer(firstIpuOf(from_replica, layout_.ipus_per_replica) + ipu,
                  firstIpuOf(to_replica, layout_.ipus_per_replica) + ipu, ipu_bytes);
    }
  }

  /// Ends the round: the time of its busiest link, nothing if no link was used.
  Picoseconds finishRound() {
    Picoseconds longest{0};
    for (const Link& link : topology_.links()) {
      const auto id = static_cast<std::size_t>(link.id);
      if (in_round_[id] == 0) continue;
      longest = std::max(longest, transferTime(in_round_[id], link.bytes_per_s));
      in_total_[id] += in_round_[id];
      in_round_[id] = 0;
    }
    return longest;
  }

  std::uint64_t maxBytes() const { return *std::max_element(in_total_.begin(), in_total_.end()); }

 private:
  void addTransfer(int from_ipu, int to_ipu, std::uint64_t bytes) {
    for (const int id : cachedRoute(from_ipu, to_ipu)) in_round_[static_cast<std::size_t>(id)] += bytes;
  }

  const Route& cachedRoute(int from_ipu, int to_ipu) {
    const std::int64_t key = std::int64_t{from_ipu} * layout_.spec.ipuCount() + to_ipu;
    const auto [entry, is_new] = routes_.try_emplace(key);
    if (is_new) entry->second = route(topology_, from_ipu, to_ipu);
    return entry->second;
  }

  const ReplicaLayout& layout_;
  Topology topology_;
  std::vector<std::uint64_t> in_round_;
  std::vector<std::uint64_t> in_total_;
  std::unordered_map<std::int64_t, Route> routes_;
};

/// The steps of all replicas, round by round.
class RoundWalk {
 public:
  explicit RoundWalk(std::span<const plan::Plan> plans) : plans_(plans), next_(plans.size(), 0) {}

  std::optional<std::uint32_t> nextRound() const {
    std::optional<std::uint32_t> round;
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      const auto& steps = plans_[rank].steps;
      if (next_[rank] < steps.size()) round = std::min(round.value_or(UINT32_MAX), steps[next_[rank]].round);
    }
    return round;
  }

  template <typename Visit>
  void visitRound(std::uint32_t round, Visit visit) {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      const auto& steps = plans_[rank].steps;
      for (; next_[rank] < steps.size() && steps[next_[rank]].round == round; ++next_[rank]) {
        visit(static_cast<int>(rank), steps[next_[rank]]);
      }
    }
  }

 private:
  std::span<const plan::Plan> plans_;
  std::vector<std::size_t> next_;
};

}  // namespace

Picoseconds roundCost(const ReplicaLayout& layout) {
  // poplibs, setGlobalSyncLatency: 15 ns a hop, there and back, over 1 + floor(rows / 2) hops.
  const int rows = (layout.ipusPerIld() + 1) / 2;
  return layout.spec.step_cost + layout.spec.sync_hop_latency * 2 * (1 + rows / 2);
}

CollectiveTime simulate(const ReplicaLayout& layout, std::span<const plan::Plan> plans,
                        std::size_t element_bytes) {
  POP_CHECK(validate(layout).ok());
  POP_CHECK(plans.size() == static_cast<std::size_t>(layout.replicas));
  LinkTraffic traffic(layout);
  RoundWalk walk(plans);
  CollectiveTime time;
  while (const std::optional<std::uint32_t> round = walk.nextRound()) {
    walk.visitRound(*round, [&](int replica, const plan::Step& step) {
      if (step.kind != plan::StepKind::kSend) return;
      POP_CHECK(step.peer >= 0 && step.peer < layout.replicas);
      traffic.addMessage(replica, step.peer, std::uint64_t{step.count} * element_bytes);
    });
    const Picoseconds transfers = traffic.finishRound();
    if (transfers == Picoseconds(0)) continue;
    time.total += transfers + roundCost(layout);
    ++time.rounds;
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

}  // namespace popdist::pod
