// SPDX-License-Identifier: Apache-2.0
#include "pod/system/routes.h"

#include <algorithm>
#include <optional>
#include <span>

#include "common/base/check.h"
#include "pod/system/numbering.h"

namespace pop::pod {
namespace {

// The way by rule. Nothing once a link of it is missing.
class RuledWay {
 public:
  explicit RuledWay(const Topology& topology) : topology_(topology), spec_(topology.spec()) {}

  std::optional<Route> between(int from_ipu, int to_ipu) {
    const int ild = spec_.ildIpus();
    if (from_ipu / ild == to_ipu / ild) {
      inside(from_ipu, to_ipu);
    } else {
      cross(from_ipu, topology_.gatewayOf(from_ipu), LinkKind::kHostLink);
      const int gateway = across(topology_.gatewayOf(from_ipu), from_ipu / ild, to_ipu / ild);
      const int same_place = to_ipu / ild * ild + from_ipu % ild;
      const int entry = topology_.gatewayOf(to_ipu) == gateway ? to_ipu : same_place;
      cross(gateway, entry, LinkKind::kHostLink);
      inside(entry, to_ipu);
    }
    if (is_broken_) return std::nullopt;
    return std::move(route_);
  }

 private:
  void cross(int from, int to, LinkKind kind) {
    const int id = topology_.linkId(from, to, kind);
    is_broken_ = is_broken_ || id < 0;
    route_.push_back(id);
  }

  void inside(int from_ipu, int to_ipu) {
    if (from_ipu == to_ipu) return;
    if (spec_.shape.topology == IldTopology::kBarleyTwist) {
      is_broken_ = true;
      return;
    }
    int at = from_ipu;
    if (at % 2 != to_ipu % 2) {
      const int partner = at ^ 1;
      cross(at, partner, partner == to_ipu ? LinkKind::kRung : LinkKind::kCrossRung);
      at = partner;
    }
    alongRail(at, to_ipu);
  }

  void alongRail(int at, int to_ipu) {
    const int first = at / spec_.ildIpus() * spec_.ildIpus();
    const int rows = spec_.ildIpus() / 2;
    const int upwards = ((to_ipu - at) / 2 + rows) % rows;
    const bool loops = spec_.shape.topology == IldTopology::kTorus && rows > 2;
    const bool goes_up = loops ? 2 * upwards <= rows : to_ipu > at;
    while (at != to_ipu) {
      const int row = (at - first) / 2;
      const int next = first + (row + (goes_up ? 1 : rows - 1)) % rows * 2 + at % 2;
      cross(at, next, LinkKind::kRail);
      at = next;
    }
  }

  // Returns the gateway of `to_ild`.
  int across(int gateway, int from_ild, int to_ild) {
    const int per_ild = spec_.gatewaysPerIld();
    if (spec_.shape.gateways == GatewayTopology::kSwitched) {
      const int last = gateway + (to_ild - from_ild) * per_ild;
      cross(gateway, topology_.switchOf(gateway), LinkKind::kGwLink);
      cross(topology_.switchOf(gateway), last, LinkKind::kGwLink);
      return last;
    }
    const int ilds = spec_.ilds();
    const int upwards = (to_ild - from_ild + ilds) % ilds;
    const bool goes_up = 2 * upwards <= ilds;
    const int hops = goes_up ? upwards : ilds - upwards;
    const std::span<const int> ring = topology_.ring((gateway - spec_.ipuCount()) % per_ild, goes_up);
    route_.reserve(route_.size() + static_cast<std::size_t>(hops + spec_.ildIpus()));
    for (int ild = from_ild, hop = 0; hop < hops; ++hop) {
      const int id = ring[static_cast<std::size_t>(ild)];
      is_broken_ = is_broken_ || id < 0;
      route_.push_back(id);
      ild += goes_up ? 1 : -1;
      if (ild == ilds) ild = 0;
      if (ild < 0) ild = ilds - 1;
    }
    return gateway + (to_ild - from_ild) * per_ild;
  }

  const Topology& topology_;
  const PodSpec& spec_;
  Route route_;
  bool is_broken_ = false;
};

// True if data on its way to `to` may take the link there.
bool mayTake(const Link& link, int to, bool over_gateways) {
  switch (link.kind) {
    case LinkKind::kRung:
      return link.to == to;
    case LinkKind::kCrossRung:
      return link.to != to;
    case LinkKind::kRail:
      return true;
    case LinkKind::kHostLink:
    case LinkKind::kGwLink:
      return over_gateways;
  }
  return false;
}

// Breadth first. The rungs of a ladder carry what ends there, those of other wirings carry everything.
Route fewestLinks(const Topology& topology, int from, int to, bool over_gateways) {
  const bool has_cross_rungs =
      !topology.spec().wiring && topology.spec().shape.topology != IldTopology::kBarleyTwist;
  std::vector<int> came_by(static_cast<std::size_t>(topology.nodes()), -1);
  std::vector<int> open{from};
  for (std::size_t at = 0; at < open.size() && came_by[static_cast<std::size_t>(to)] < 0; ++at) {
    for (const int id : topology.linksFrom(open[at])) {
      const Link& link = topology.links()[static_cast<std::size_t>(id)];
      int& known = came_by[static_cast<std::size_t>(link.to)];
      const bool is_free_rung = link.kind == LinkKind::kRung && !has_cross_rungs;
      if (link.to == from || known >= 0 || !(is_free_rung || mayTake(link, to, over_gateways))) continue;
      known = id;
      open.push_back(link.to);
    }
  }
  Route route;
  for (int node = to; node != from;) {
    const int id = came_by[static_cast<std::size_t>(node)];
    if (id < 0) return {};
    route.push_back(id);
    node = topology.links()[static_cast<std::size_t>(id)].from;
  }
  std::reverse(route.begin(), route.end());
  return route;
}

}  // namespace

int directLink(const Topology& topology, int from_ipu, int to_ipu) {
  for (const int id : topology.linksFrom(from_ipu)) {
    const Link& link = topology.links()[static_cast<std::size_t>(id)];
    if (link.to == to_ipu && (link.kind == LinkKind::kRail || link.kind == LinkKind::kRung)) return id;
  }
  return -1;
}

Route route(const Topology& topology, int from_ipu, int to_ipu) {
  if (from_ipu == to_ipu) return {};
  if (const int direct = directLink(topology, from_ipu, to_ipu); direct >= 0) return {direct};
  if (!topology.spec().wiring) {
    if (std::optional<Route> ruled = RuledWay(topology).between(from_ipu, to_ipu)) return std::move(*ruled);
  }
  Route found = fewestLinks(topology, from_ipu, to_ipu, false);
  if (found.empty()) found = fewestLinks(topology, from_ipu, to_ipu, true);
  POP_CHECK(!found.empty());
  return found;
}

}  // namespace pop::pod
