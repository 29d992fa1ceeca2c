// SPDX-License-Identifier: Apache-2.0
// Bytes that messages put on the links of a Pod.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pod/collectives/schedule.h"
#include "pod/system/numbering.h"
#include "pod/system/picoseconds.h"
#include "pod/system/replica_layout.h"
#include "pod/system/routes.h"
#include "pod/system/topology.h"

namespace pop::pod {

/// Bytes of a block on each IPU of a replica, of `count` elements: the last blocks are padded.
inline std::uint64_t blockBytes(const ReplicaLayout& layout, const Schedule& schedule, std::uint64_t count,
                                std::size_t element_bytes) {
  const std::uint64_t parts =
      std::uint64_t{schedule.blocks} * static_cast<std::uint64_t>(layout.ipus_per_replica);
  return productOf(count / parts + (count % parts == 0 ? 0 : 1), element_bytes);
}

/// Bytes on each link, up to kMostCounted: of this round, and of all.
class LinkTraffic {
 public:
  explicit LinkTraffic(const Topology& topology)
      : topology_(topology), in_round_(topology.links().size()), in_total_(topology.links().size()) {}

  /// A copy between replicas: each of their IPUs sends its part.
  void add(const ReplicaLayout& layout, const Transfer& transfer, std::uint64_t block_bytes) {
    const int from = firstIpuOf(transfer.from, layout.ipus_per_replica);
    const int to = firstIpuOf(transfer.to, layout.ipus_per_replica);
    const std::uint64_t bytes = productOf(transfer.blocks, block_bytes);
    for (int ipu = 0; ipu < layout.ipus_per_replica; ++ipu) add(from + ipu, to + ipu, bytes);
  }

  /// Links that carry something in this round, and how much.
  std::span<const int> used() const { return used_; }
  std::uint64_t bytesOn(int link) const { return in_round_[static_cast<std::size_t>(link)]; }

  /// Ends the round, which there are `times` of: the time of its busiest link.
  Picoseconds finishRound(int times) {
    Picoseconds longest{0};
    for (const int id : used_) {
      const auto at = static_cast<std::size_t>(id);
      longest = std::max(longest, transferTime(in_round_[at], topology_.links()[at].bytes_per_s));
      in_total_[at] = sumOf(in_total_[at], productOf(in_round_[at], static_cast<std::uint64_t>(times)));
      in_round_[at] = 0;
    }
    longest = sumOf(longest, productOf(topology_.spec().link_latency, most_hops_));
    used_.clear();
    most_hops_ = 0;
    return longest;
  }

  /// The most that a link has carried in all rounds.
  std::uint64_t maxBytes() const { return *std::ranges::max_element(in_total_); }

 private:
  void add(int from_ipu, int to_ipu, std::uint64_t bytes) {
    const Route way = route(topology_, from_ipu, to_ipu);
    most_hops_ = std::max(most_hops_, way.size());
    for (const int id : way) {
      std::uint64_t& load = in_round_[static_cast<std::size_t>(id)];
      if (load == 0) used_.push_back(id);
      load = sumOf(load, bytes);
    }
  }

  const Topology& topology_;
  std::vector<std::uint64_t> in_round_;
  std::vector<std::uint64_t> in_total_;
  std::vector<int> used_;
  std::size_t most_hops_ = 0;
};

}  // namespace pop::pod
