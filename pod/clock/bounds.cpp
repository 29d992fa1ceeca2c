// SPDX-License-Identifier: Apache-2.0
// A cut gives each node a group. Nodes that only forward count with the group of a neighbour: any choice
// gives a valid bound. Cross-rungs carry only what crosses a rail too, which counts already.
#include "pod/clock/bounds.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "common/base/check.h"
#include "pod/system/numbering.h"

namespace pop::pod {
namespace {

constexpr int kUnused = -2;  // no data comes there
constexpr int kOpen = -1;

// The groups of nodes.
struct Cut {
  std::vector<int> group_of;
  int groups = 0;
  bool counts_cross_rungs = true;
};

// Bytes a second from one group to others. By that into the group of the fewest.
struct Capacity {
  double all = 0;
  std::vector<double> into;
};

Capacity capacityOf(const Topology& topology, const Cut& cut) {
  Capacity capacity{0, std::vector<double>(static_cast<std::size_t>(cut.groups))};
  for (const Link& link : topology.links()) {
    if (link.kind == LinkKind::kCrossRung && !cut.counts_cross_rungs) continue;
    const int from = cut.group_of[static_cast<std::size_t>(link.from)];
    const int to = cut.group_of[static_cast<std::size_t>(link.to)];
    if (from == to || from < 0 || to < 0) continue;
    capacity.all += static_cast<double>(link.bytes_per_s);
    capacity.into[static_cast<std::size_t>(to)] += static_cast<double>(link.bytes_per_s);
  }
  return capacity;
}

// Nodes that hold no replica join the group of a neighbour, until all have one.
void spread(const Topology& topology, std::vector<int>& group_of) {
  std::vector<int> open;
  for (int node = 0; node < topology.nodes(); ++node) {
    if (group_of[static_cast<std::size_t>(node)] >= 0) open.push_back(node);
  }
  for (std::size_t at = 0; at < open.size(); ++at) {
    for (const int id : topology.linksFrom(open[at])) {
      const int next = topology.links()[static_cast<std::size_t>(id)].to;
      int& group = group_of[static_cast<std::size_t>(next)];
      if (group != kOpen) continue;
      group = group_of[static_cast<std::size_t>(open[at])];
      open.push_back(next);
    }
  }
}

// On a ladder data never leaves the rows in use, and within an ILD it goes over gateways only where IPU-Links
// do not lead.
void excludeUnused(const Topology& topology, const ReplicaLayout& layout, std::vector<int>& group_of) {
  if (layout.ildCount() > 1) return;
  const PodSpec& spec = topology.spec();
  if (isConnected(topology, false)) std::fill(group_of.begin() + spec.ipuCount(), group_of.end(), kUnused);
  const bool is_ladder =
      !spec.wiring && spec.shape.topology == IldTopology::kMesh && spec.removed_links.empty();
  if (!is_ladder) return;
  const int used = (layout.ipuCount() + 1) / 2 * 2;
  std::fill(group_of.begin() + used, group_of.begin() + spec.ipuCount(), kUnused);
}

Cut cutBy(const Topology& topology, const ReplicaLayout& layout, int groups,
          const std::function<int(int replica)>& group_of) {
  Cut cut{std::vector<int>(static_cast<std::size_t>(topology.nodes()), kOpen), groups};
  excludeUnused(topology, layout, cut.group_of);
  for (int ipu = 0; ipu < layout.ipuCount(); ++ipu)
    cut.group_of[static_cast<std::size_t>(ipu)] = group_of(ipu / layout.ipus_per_replica);
  spread(topology, cut.group_of);
  return cut;
}

// Cuts of one ILD into the replicas below a place and those above it: all would be O(replicas * links).
constexpr int kMostHalves = 64;

template <typename Visit>
void forEachCut(const Topology& topology, const ReplicaLayout& layout, const Visit& visit) {
  const int replicas = layout.replicas;
  const int per_ild = layout.replicasPerIld();
  Cut singles = cutBy(topology, layout, replicas, [](int replica) { return replica; });
  // Data of single IPUs goes from a cross-rung to a rail, which counts already.
  singles.counts_cross_rungs = layout.ipus_per_replica > 1;
  visit(singles);
  if (layout.ildCount() > 1)
    visit(cutBy(topology, layout, layout.ildCount(), [&](int replica) { return replica / per_ild; }));
  const int step = std::max(1, per_ild / kMostHalves);
  for (int below = step; below < per_ild; below += step)
    visit(cutBy(topology, layout, 2, [&](int replica) { return replica % per_ild < below ? 0 : 1; }));
}

Picoseconds timeOf(double bytes, double bytes_per_s) {
  if (bytes_per_s <= 0) return Picoseconds(0);
  const double picoseconds = bytes / bytes_per_s * 1e12;
  if (picoseconds >= static_cast<double>(kMostCounted)) return kLongestTime;
  return Picoseconds(static_cast<std::int64_t>(picoseconds));
}

// The part of a vector that must come to each replica of a group, but for a broadcast's root, or go from it.
double throughEachReplica(const Collective& collective) {
  if (collective.group.size == 1) return 0;
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBroadcast:
      return 1;
    default:
      return static_cast<double>(collective.group.size - 1) / collective.group.size;
  }
}

// Each replica must get it, so the one with the slowest links gives the bound; but the slowest may be a root
// of a broadcast, which gets nothing.
Picoseconds boundOfOne(const Topology& topology, const ReplicaLayout& layout, const Collective& collective) {
  const Cut singles = cutBy(topology, layout, layout.replicas, [](int replica) { return replica; });
  const std::vector<double> into = capacityOf(topology, singles).into;
  const bool has_root = collective.kind == CollectiveKind::kBroadcast;
  const double bytes_per_s = has_root ? *std::ranges::max_element(into) : *std::ranges::min_element(into);
  return timeOf(throughEachReplica(collective) * static_cast<double>(collective.bytes()), bytes_per_s);
}

// A bound by cuts. `coming(cut, group, members)` is the part of the vector that must come into a group.
template <typename Coming>
Picoseconds boundOfCuts(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes,
                        const Coming& coming) {
  Picoseconds bound{0};
  forEachCut(topology, layout, [&](const Cut& cut) {
    std::vector<int> members(static_cast<std::size_t>(cut.groups));
    for (int ipu = 0; ipu < layout.ipuCount(); ipu += layout.ipus_per_replica)
      ++members[static_cast<std::size_t>(cut.group_of[static_cast<std::size_t>(ipu)])];
    const Capacity capacity = capacityOf(topology, cut);
    for (std::size_t group = 0; group < members.size(); ++group) {
      const double part = coming(cut, static_cast<int>(group), members[group]);
      bound = std::max(bound, timeOf(part * static_cast<double>(bytes), capacity.into[group]));
    }
  });
  return bound;
}

Picoseconds allToAllLowerBound(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes) {
  return boundOfCuts(topology, layout, bytes, [&](const Cut&, int, int members) {
    return static_cast<double>(members) * (layout.replicas - members) / layout.replicas;
  });
}

Picoseconds broadcastLowerBound(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes,
                                int root) {
  const auto root_ipu = static_cast<std::size_t>(root * layout.ipus_per_replica);
  return boundOfCuts(topology, layout, bytes, [&](const Cut& cut, int group, int) {
    return cut.group_of[root_ipu] == group ? 0.0 : 1.0;
  });
}

}  // namespace

Picoseconds lowerBound(const Topology& topology, const ReplicaLayout& layout, const Collective& collective) {
  POP_CHECK(validate(layout).ok());
  if (layout.replicas == 1 || collective.group.size == 1) return Picoseconds(0);
  if (collective.kind == CollectiveKind::kTakeOwnPart) return Picoseconds(0);
  if (collective.group.size < layout.replicas) return boundOfOne(topology, layout, collective);
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      return allReduceLowerBound(topology, layout, collective.bytes());
    case CollectiveKind::kAllToAll:
      return allToAllLowerBound(topology, layout, collective.bytes());
    case CollectiveKind::kBroadcast:
      return broadcastLowerBound(topology, layout, collective.bytes(), collective.root);
    default:
      return gatherLowerBound(topology, layout, collective.bytes());
  }
}

Picoseconds allReduceLowerBound(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes) {
  POP_CHECK(validate(layout).ok());
  Picoseconds bound{0};
  if (layout.replicas == 1) return bound;
  forEachCut(topology, layout, [&](const Cut& cut) {
    // Half of the links' sum is that of one direction.
    const double crossings = static_cast<double>(cut.groups - 1) * static_cast<double>(bytes);
    bound = std::max(bound, timeOf(crossings, capacityOf(topology, cut).all / 2));
  });
  return bound;
}

Picoseconds gatherLowerBound(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes) {
  POP_CHECK(validate(layout).ok());
  if (layout.replicas == 1) return Picoseconds(0);
  return boundOfCuts(topology, layout, bytes, [&](const Cut&, int, int members) {
    return static_cast<double>(layout.replicas - members) / layout.replicas;
  });
}

Picoseconds allReduceEstimate(const ReplicaLayout& layout, std::uint64_t bytes) {
  POP_CHECK(validate(layout).ok());
  if (layout.replicas == 1) return Picoseconds(0);
  const auto shared = [bytes](int parts) {
    const auto count = static_cast<std::uint64_t>(parts);
    return bytes / count + (bytes % count == 0 ? 0 : 1);
  };
  Picoseconds time{0};
  if (layout.replicasPerIld() > 1)
    time = productOf(transferTime(shared(layout.ipus_per_replica), layout.spec.links.rail_bytes_per_s), 2);
  if (layout.ildCount() > 1)
    time = sumOf(time, transferTime(shared(layout.replicas), layout.spec.links.gw_link_bytes_per_s));
  return time;
}

}  // namespace pop::pod
