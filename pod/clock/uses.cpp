// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/uses.h"

#include <set>

#include "pod/clock/link_traffic.h"
#include "pod/clock/timeline.h"

namespace pop::pod {
namespace {

void addIpus(std::vector<Use>& ipus, const ReplicaLayout& layout, const Round& round,
             std::uint64_t block_bytes) {
  std::set<int> replicas;
  const auto useOf = [&](int replica, int ipu) -> Use& {
    return ipus[static_cast<std::size_t>(firstIpuOf(replica, layout.ipus_per_replica) + ipu)];
  };
  for (const Transfer& copy : round.copies) {
    replicas.insert({copy.from, copy.to});
    for (int ipu = 0; ipu < layout.ipus_per_replica; ++ipu) {
      std::uint64_t& bytes = useOf(copy.from, ipu).bytes;
      bytes = sumOf(bytes, productOf(copy.blocks, block_bytes));
    }
  }
  for (const int replica : replicas) {
    for (int ipu = 0; ipu < layout.ipus_per_replica; ++ipu) {
      Picoseconds& busy = useOf(replica, ipu).busy;
      busy = sumOf(busy, round.transfers);
    }
  }
}

}  // namespace

Uses usesOf(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
            std::uint64_t count, std::size_t element_bytes) {
  Uses uses{std::vector<Use>(static_cast<std::size_t>(layout.replicas * layout.ipus_per_replica)),
            std::vector<Use>(topology.links().size())};
  const std::uint64_t block_bytes = blockBytes(layout, schedule, count, element_bytes);
  forEachRound(topology, layout, schedule, count, element_bytes, [&](const Round& round) {
    for (const LinkUse& in_round : round.links) {
      const auto at = static_cast<std::size_t>(in_round.link);
      Use& link = uses.links[at];
      link.bytes = sumOf(link.bytes, in_round.bytes);
      link.busy = sumOf(link.busy, transferTime(in_round.bytes, topology.links()[at].bytes_per_s));
    }
    addIpus(uses.ipus, layout, round, block_bytes);
  });
  return uses;
}

}  // namespace pop::pod
