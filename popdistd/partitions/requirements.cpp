// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/requirements.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <tuple>

#include "common/base/text.h"
#include "popdistd/partitions/ipu_inventory.h"

namespace pop::vipu {
namespace {

constexpr std::uint32_t kMaxSize = std::uint32_t{kMaxIlds} * kMaxIldIpus;

std::string number(std::uint32_t value) {
  return std::to_string(value);
}

Status mistake(const PartitionRequirements& requirements, const std::string& what) {
  return invalidArgument("partition " + inQuotes(requirements.id) + ": " + what);
}

Status checkSize(const PartitionRequirements& requirements, std::uint32_t size) {
  const auto named = static_cast<std::uint32_t>(requirements.ipus.size());
  if (named != 0 && named != size)
    return mistake(requirements, "size " + number(size) + " is not the number of its ipus, " + number(named) +
                                     ": leave one of the two out");
  if (size == 0) return mistake(requirements, "its size is missing: say how many IPUs it has (size)");
  if (size > kMaxSize)
    return mistake(requirements, "size " + number(size) + " is more than the " + number(kMaxSize) +
                                     " IPUs that a cluster can have");
  if (!std::has_single_bit(size))
    return mistake(requirements, "size " + number(size) + " is not a power of two: ask for " +
                                     number(std::bit_ceil(size)) + " IPUs");
  return {};
}

std::uint32_t namedIlds(const PartitionRequirements& requirements) {
  std::set<int> ilds;
  for (const PartitionIpu& ipu : requirements.ipus) ilds.insert(ipu.ild_topology_id);
  return static_cast<std::uint32_t>(ilds.size());
}

Status checkSegments(const PartitionRequirements& requirements, std::uint32_t size, std::uint32_t segments) {
  if (const std::uint32_t named = namedIlds(requirements); named != 0 && named != segments)
    return mistake(requirements, "its ipus are in " + counted(named, "IPU-Link domain") +
                                     ", but num_ipulink_segments is " + number(segments));
  if (!std::has_single_bit(segments) || segments > size)
    return mistake(requirements, "num_ipulink_segments " + number(segments) + " does not divide its " +
                                     counted(size, "IPU") + " into powers of two");
  if (size / segments > std::uint32_t{kMaxIldIpus})
    return mistake(requirements, "an IPU-Link domain has at most " + std::to_string(kMaxIldIpus) +
                                     " IPUs: " + number(size) + " need num_ipulink_segments " +
                                     number(size / std::uint32_t{kMaxIldIpus}) + " or more");
  return {};
}

Status checkGcds(const PartitionRequirements& requirements, std::uint32_t size, std::uint32_t gcds,
                 std::uint32_t replicas) {
  if (gcds > size || size % gcds != 0)
    return mistake(requirements, "num_gcds " + number(gcds) + " does not divide its " + counted(size, "IPU") +
                                     ": ask for a power of two up to " + number(size));
  if (replicas > size)
    return mistake(requirements,
                   "num_replicas " + number(replicas) + " is more than its " + counted(size, "IPU"));
  if (replicas % gcds != 0)
    return mistake(requirements, "num_replicas " + number(replicas) + " does not fit its " +
                                     counted(gcds, "GCD") + ": ask for a multiple of " + number(gcds) +
                                     ", the same number in each");
  return {};
}

Status checkSync(const PartitionRequirements& requirements) {
  if (requirements.sync == SyncType::kGs2IndependentRails)
    return mistake(requirements, "sync type independent-rails is not supported: leave sync_type out");
  const bool c2_compatible =
      requirements.sync == SyncType::kUndefined || requirements.sync == SyncType::kGs2Default;
  if (requirements.reconfigurable && !c2_compatible)
    return mistake(requirements, std::string("a reconfigurable partition has sync type c2-compatible, not ") +
                                     nameOf(requirements.sync) + ": leave out sync_type or reconfigurable");
  return {};
}

std::string ipuText(const PartitionIpu& ipu) {
  return "IPU " + std::to_string(ipu.topology_id) + " of IPU-Link domain " +
         std::to_string(ipu.ild_topology_id);
}

auto inCluster(const PartitionIpu& ipu) {
  return std::tuple(ipu.ild_topology_id, ipu.topology_id);
}

Status checkPlaces(const PartitionRequirements& requirements) {
  if (requirements.cluster.empty())
    return mistake(requirements, "its ipus are numbers in a cluster: name it (cluster_id)");
  std::set<std::tuple<int, int>> seen;
  for (const PartitionIpu& ipu : requirements.ipus) {
    if (ipu.topology_id < 0 || ipu.topology_id >= kMaxIldIpus || ipu.ild_topology_id < 0 ||
        ipu.ild_topology_id >= kMaxIlds)
      return mistake(requirements, "there is no " + ipuText(ipu));
    if (!seen.insert(inCluster(ipu)).second)
      return mistake(requirements, "its ipus have " + ipuText(ipu) + " twice");
  }
  return {};
}

// Routing ids must number all IPUs, segment by segment: those of segment s are [s * n, (s + 1) * n).
Status checkRouting(const PartitionRequirements& requirements, const PartitionSpec& spec) {
  for (std::size_t i = 0; i < spec.ipus.size(); ++i) {
    const PartitionIpu& ipu = spec.ipus[i];
    const std::size_t segment = i / static_cast<std::size_t>(spec.segmentIpus());
    const PartitionIpu& first = spec.ipus[segment * static_cast<std::size_t>(spec.segmentIpus())];
    if (ipu.routing_id != static_cast<int>(i) || ipu.ild_routing_id != static_cast<int>(segment) ||
        ipu.ild_topology_id != first.ild_topology_id)
      return mistake(
          requirements,
          "the routing ids of its ipus do not number " + counted(spec.size, "IPU") + " in " +
              counted(spec.num_segments, "equal segment") + ", at " + ipuText(ipu) +
              ": leave all routing ids out, or number IPUs and IPU-Link domains from 0 on, one domain "
              "after the other");
  }
  return {};
}

Status takeNamedIpus(const PartitionRequirements& requirements, PartitionSpec& spec) {
  POP_RETURN_IF_ERROR(checkPlaces(requirements));
  spec.ipus = requirements.ipus;
  const bool numbered = std::any_of(spec.ipus.begin(), spec.ipus.end(), [](const PartitionIpu& ipu) {
    return ipu.routing_id != 0 || ipu.ild_routing_id != 0;
  });
  std::sort(spec.ipus.begin(), spec.ipus.end(), [numbered](const PartitionIpu& a, const PartitionIpu& b) {
    return numbered ? a.routing_id < b.routing_id : inCluster(a) < inCluster(b);
  });
  for (std::size_t i = 0; !numbered && i < spec.ipus.size(); ++i) {
    spec.ipus[i].routing_id = static_cast<int>(i);
    spec.ipus[i].ild_routing_id = static_cast<int>(i) / spec.segmentIpus();
  }
  return checkRouting(requirements, spec);
}

IpuLinkRouting defaultRouting(const PartitionSpec& spec, bool whole_torus) {
  if (spec.reconfigurable) return IpuLinkRouting::kDnc;
  if (whole_torus) return IpuLinkRouting::kRingSwnc;
  return spec.segmentIpus() > kMachineIpus ? IpuLinkRouting::kSwnc : IpuLinkRouting::kDnc;
}

}  // namespace

Result<PartitionSpec> specOf(const PartitionRequirements& requirements) {
  POP_RETURN_IF_ERROR(checkName("partition", requirements.id));
  if (requirements.ipus.size() > kMaxSize) return mistake(requirements, "it has too many ipus");
  const auto either = [](std::uint32_t asked, std::uint32_t otherwise) {
    return asked != 0 ? asked : otherwise;
  };
  const std::uint32_t size = either(requirements.size, static_cast<std::uint32_t>(requirements.ipus.size()));
  const std::uint32_t segments = either(requirements.num_segments, std::max(1U, namedIlds(requirements)));
  const std::uint32_t gcds = either(requirements.num_gcds, 1);
  const std::uint32_t replicas = either(requirements.num_replicas, gcds);
  POP_RETURN_IF_ERROR(checkSize(requirements, size));
  POP_RETURN_IF_ERROR(checkSegments(requirements, size, segments));
  POP_RETURN_IF_ERROR(checkGcds(requirements, size, gcds, replicas));
  POP_RETURN_IF_ERROR(checkSync(requirements));
  PartitionSpec spec;
  spec.size = static_cast<int>(size);
  spec.num_segments = static_cast<int>(segments);
  spec.num_gcds = static_cast<int>(gcds);
  spec.num_replicas = static_cast<int>(replicas);
  spec.reconfigurable = requirements.reconfigurable;
  if (requirements.sync != SyncType::kUndefined) spec.sync = requirements.sync;
  if (!requirements.ipus.empty()) POP_RETURN_IF_ERROR(takeNamedIpus(requirements, spec));
  return spec;
}

Status setRouting(const PartitionRequirements& requirements, const Cluster& cluster, PartitionSpec& spec) {
  const bool whole_torus =
      cluster.shape.topology == IldTopology::kTorus && spec.segmentIpus() == cluster.shape.ildIpus();
  const std::string in_cluster = " in cluster " + inQuotes(cluster.id);
  if (requirements.routing == IpuLinkRouting::kRingSwnc && !whole_torus)
    return mistake(requirements, "routing RINGSWNC needs the loop links of a whole torus, which " +
                                     counted(spec.segmentIpus(), "IPU") + in_cluster +
                                     " do not have: leave ipulink_routing_type out");
  spec.routing = requirements.routing != IpuLinkRouting::kUndefined ? requirements.routing
                                                                    : defaultRouting(spec, whole_torus);
  spec.gw_routing = GatewayRouting::kUndefined;
  if (spec.num_segments == 1)
    return {};  // a client may ask for gateway routing all the same: it has no effect
  spec.gw_routing =
      cluster.shape.gateways == GatewayTopology::kSwitched ? GatewayRouting::kSwRing : GatewayRouting::kRing;
  if (requirements.gw_routing != GatewayRouting::kUndefined && requirements.gw_routing != spec.gw_routing)
    return mistake(requirements, std::string("gateway routing ") + nameOf(requirements.gw_routing) +
                                     " does not fit the GW-Links" + in_cluster + ", which need " +
                                     nameOf(spec.gw_routing) + ": leave gw_routing_type out");
  return {};
}

}  // namespace pop::vipu
