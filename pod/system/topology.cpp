// SPDX-License-Identifier: Apache-2.0
#include "pod/system/topology.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "pod/system/numbering.h"

namespace pop::pod {
namespace {

bool isRemoved(const PodSpec& spec, int a, int b) {
  return std::ranges::any_of(spec.removed_links, [&](const std::pair<int, int>& removed) {
    return removed == std::pair(a, b) || removed == std::pair(b, a);
  });
}

}  // namespace

Topology::Topology(PodSpec spec) : spec_(std::move(spec)), gateways_(spec_.ilds() * spec_.gatewaysPerIld()) {
  const bool switched =
      !spec_.wiring && spec_.ilds() > 1 && spec_.shape.gateways == GatewayTopology::kSwitched;
  switches_ = switched ? spec_.gatewaysPerIld() : 0;
  if (spec_.wiring) {
    switches_ = spec_.wiring->switches;
    for (const Wire& wire : spec_.wiring->wires) addBoth(wire.a, wire.b, wire.kind, wire.bytes_per_s);
  } else {
    for (int ild = 0; ild < spec_.ilds(); ++ild)
      spec_.shape.topology == IldTopology::kBarleyTwist ? addSquares(ild) : addRows(ild);
    addHostLinks();
    addGwLinks();
  }
  indexLinks();
}

std::span<const int> Topology::linksFrom(int node) const {
  const auto at = static_cast<std::size_t>(node);
  const auto first = static_cast<std::size_t>(first_of_[at]);
  return std::span(by_node_).subspan(first, static_cast<std::size_t>(first_of_[at + 1]) - first);
}

int Topology::gatewayOf(int ipu) const {
  const int ild = ipu / spec_.ildIpus();
  const int slot = ipu % spec_.ildIpus() / kMachineIpus / spec_.machines_per_gateway;
  return spec_.ipuCount() + ild * spec_.gatewaysPerIld() + slot;
}

int Topology::switchOf(int gateway) const {
  return spec_.ipuCount() + gateways_ + (gateway - spec_.ipuCount()) % spec_.gatewaysPerIld();
}

int Topology::linkId(int from, int to, LinkKind kind) const {
  for (const int id : linksFrom(from)) {
    const Link& link = links_[static_cast<std::size_t>(id)];
    if (link.to == to && link.kind == kind) return id;
  }
  return -1;
}

void Topology::addBoth(int a, int b, LinkKind kind, std::uint64_t bytes_per_s) {
  if (isRemoved(spec_, a, b)) return;
  links_.push_back({static_cast<int>(links_.size()), a, b, kind, bytes_per_s});
  links_.push_back({static_cast<int>(links_.size()), b, a, kind, bytes_per_s});
}

void Topology::addRows(int ild) {
  const int rows = spec_.ildIpus() / 2;
  // A torus of two rows is the mesh: its loop-back cables would be the rails again.
  const bool loops = spec_.shape.topology == IldTopology::kTorus && rows > 2;
  for (int row = 0; row < rows; ++row) {
    const int left = ipuAt(spec_, ild, row, 0);
    const int right = ipuAt(spec_, ild, row, 1);
    addBoth(left, right, LinkKind::kRung, spec_.links.rung_bytes_per_s);
    if (spec_.links.cross_rung_bytes_per_s > 0)
      addBoth(left, right, LinkKind::kCrossRung, spec_.links.cross_rung_bytes_per_s);
    if (row + 1 == rows && !loops) break;
    const int next = (row + 1) % rows;
    addBoth(left, ipuAt(spec_, ild, next, 0), LinkKind::kRail, spec_.links.rail_bytes_per_s);
    addBoth(right, ipuAt(spec_, ild, next, 1), LinkKind::kRail, spec_.links.rail_bytes_per_s);
  }
}

// Assumption, as the wiring was never published: each machine is the square 0-1-3-2, and a rail leads from
// each of its IPUs to the other row of the next machine. Those of the upper row are a ladder's, so that GCL's
// serpent goes from neighbour to neighbour; those of the lower row use the links that a ladder leaves over.
void Topology::addSquares(int ild) {
  const int first = ild * spec_.ildIpus();
  const int machines = spec_.shape.machines_per_ild;
  for (int machine = 0; machine < machines; ++machine) {
    const int at = first + machine * kMachineIpus;
    addBoth(at, at + 1, LinkKind::kRung, spec_.links.rung_bytes_per_s);
    addBoth(at + 2, at + 3, LinkKind::kRung, spec_.links.rung_bytes_per_s);
    addBoth(at, at + 2, LinkKind::kRail, spec_.links.rail_bytes_per_s);
    addBoth(at + 1, at + 3, LinkKind::kRail, spec_.links.rail_bytes_per_s);
    if (machine + 1 == machines && machines <= 2) break;
    const int next = first + (machine + 1) % machines * kMachineIpus;
    for (int place = 0; place < kMachineIpus; ++place)
      addBoth(at + place, next + (place ^ 2), LinkKind::kRail, spec_.links.rail_bytes_per_s);
  }
}

void Topology::addHostLinks() {
  for (int ipu = 0; ipu < spec_.ipuCount(); ++ipu)
    addBoth(ipu, gatewayOf(ipu), LinkKind::kHostLink, spec_.links.host_link_bytes_per_s);
}

void Topology::addGwLinks() {
  if (spec_.ilds() == 1) return;
  const std::uint64_t port = spec_.links.gw_link_bytes_per_s;
  if (switches_ == 0) return addRing(port);
  for (int gateway = spec_.ipuCount(); gateway < spec_.ipuCount() + gateways_; ++gateway)
    addBoth(gateway, switchOf(gateway), LinkKind::kGwLink, 2 * port);
}

// The last is a neighbour of the first, and of two each has both ports of the other.
void Topology::addRing(std::uint64_t port_bytes_per_s) {
  const int ilds = spec_.ilds();
  const int per_ild = spec_.gatewaysPerIld();
  const auto linkOf = [this, ilds, per_ild](int gateway, bool upwards) -> int& {
    const int slot = gateway % per_ild;
    return rings_[static_cast<std::size_t>((2 * slot + (upwards ? 1 : 0)) * ilds + gateway / per_ild)];
  };
  rings_.assign(2 * static_cast<std::size_t>(gateways_), -1);
  for (int gateway = 0; gateway < (ilds == 2 ? per_ild : gateways_); ++gateway) {
    const int next = (gateway + per_ild) % gateways_;
    const int id = static_cast<int>(links_.size());
    addBoth(spec_.ipuCount() + gateway, spec_.ipuCount() + next, LinkKind::kGwLink,
            ilds == 2 ? 2 * port_bytes_per_s : port_bytes_per_s);
    if (static_cast<int>(links_.size()) == id) continue;
    linkOf(gateway, true) = id;
    linkOf(next, false) = id + 1;
    if (ilds > 2) continue;
    linkOf(gateway, false) = id;
    linkOf(next, true) = id + 1;
  }
}

void Topology::indexLinks() {
  const auto nodes = static_cast<std::size_t>(spec_.ipuCount() + gateways_ + switches_);
  first_of_.assign(nodes + 1, 0);
  for (const Link& link : links_) ++first_of_[static_cast<std::size_t>(link.from) + 1];
  for (std::size_t node = 0; node < nodes; ++node) first_of_[node + 1] += first_of_[node];
  by_node_.resize(links_.size());
  std::vector<int> next = first_of_;
  for (const Link& link : links_)
    by_node_[static_cast<std::size_t>(next[static_cast<std::size_t>(link.from)]++)] = link.id;
}

bool isConnected(const Topology& topology, bool over_gateways) {
  std::vector<char> reached(static_cast<std::size_t>(topology.nodes()), 0);
  std::vector<int> open{0};
  reached[0] = 1;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    for (const int id : topology.linksFrom(node)) {
      const int next = topology.links()[static_cast<std::size_t>(id)].to;
      if (!over_gateways && next >= topology.spec().ipuCount()) continue;
      if (std::exchange(reached[static_cast<std::size_t>(next)], 1) == 0) open.push_back(next);
    }
  }
  return std::all_of(reached.begin(), reached.begin() + topology.spec().ipuCount(),
                     [](char is) { return is; });
}

}  // namespace pop::pod
