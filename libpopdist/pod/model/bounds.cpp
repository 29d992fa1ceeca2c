// SPDX-License-Identifier: Apache-2.0
// Capacities are those of one direction: reduction crosses a border one way, the result comes back the other
// way.
#include "libpopdist/pod/model/bounds.h"

#include <algorithm>

#include "common/base/check.h"

namespace popdist::pod {
namespace {

/// Every replica a group by itself, one IPU each, in one IPU-Link domain: the sum of all rungs and rails.
Picoseconds replicaCut(const ReplicaLayout& layout, std::uint64_t bytes) {
  const LinkSpec& links = layout.spec.links;
  const auto ipus = static_cast<std::uint64_t>(layout.replicas);
  const std::uint64_t rows = (ipus + 1) / 2;
  // In one row no traffic goes on along a rail. An odd last IPU's partner only forwards: their rung is no
  // border.
  const std::uint64_t rung = links.rung_bytes_per_s + (rows > 1 ? links.cross_rung_bytes_per_s : 0);
  const std::uint64_t capacity = 2 * (rows - 1) * links.rail_bytes_per_s + ipus / 2 * rung;
  return transferTime((ipus - 1) * bytes, capacity);
}

/// The lower rows in one group, the upper rows in the other: only rails join them. With several IPU-Link
/// domains the border lies between two IPU-Machines, the same two in all Pods, as gateways join the rows of a
/// machine.
Picoseconds railCut(const ReplicaLayout& layout, std::uint64_t bytes) {
  const auto pods = static_cast<std::uint64_t>(layout.ildCount() == 1 ? 1 : layout.spec.pods);
  return transferTime(bytes, 2 * pods * layout.spec.links.rail_bytes_per_s);
}

bool hasRailCut(const ReplicaLayout& layout) {
  if (layout.replicasPerIld() == 1) return false;
  return layout.ildCount() == 1 ? layout.ipuCount() > 2 : layout.spec.machines_per_pod > 1;
}

/// Each Pod a group: only GW-Links join them. Unused Pods only forward and count with a neighbour.
Picoseconds podCut(const ReplicaLayout& layout, std::uint64_t bytes) {
  const auto ilds = static_cast<std::uint64_t>(layout.ildCount());
  const std::uint64_t borders = layout.spec.pods == 2 ? 1 : ilds;
  const auto gateways = static_cast<std::uint64_t>(layout.spec.machines_per_pod);
  return transferTime((ilds - 1) * bytes, borders * gateways * layout.spec.links.gw_link_bytes_per_s);
}

}  // namespace

Picoseconds allReduceLowerBound(const ReplicaLayout& layout, std::uint64_t bytes) {
  POP_CHECK(validate(layout).ok());
  Picoseconds bound{0};
  if (layout.replicas == 1) return bound;
  if (layout.ildCount() == 1 && layout.ipus_per_replica == 1)
    bound = std::max(bound, replicaCut(layout, bytes));
  if (hasRailCut(layout)) bound = std::max(bound, railCut(layout, bytes));
  if (layout.ildCount() > 1) bound = std::max(bound, podCut(layout, bytes));
  return bound;
}

Picoseconds allReduceEstimate(const ReplicaLayout& layout, std::uint64_t bytes) {
  POP_CHECK(validate(layout).ok());
  if (layout.replicas == 1) return Picoseconds(0);
  const auto shared = [bytes](int parts) {
    const auto count = static_cast<std::uint64_t>(parts);
    return (bytes + count - 1) / count;
  };
  Picoseconds time{0};
  if (layout.replicasPerIld() > 1)
    time += 2 * transferTime(shared(layout.ipus_per_replica), layout.spec.links.rail_bytes_per_s);
  if (layout.ildCount() > 1)
    time += transferTime(shared(layout.replicas), layout.spec.links.gw_link_bytes_per_s);
  return time;
}

}  // namespace popdist::pod
