// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/topology.h"

#include <utility>

#include "common/base/check.h"
#include "libpopdist/pod/model/numbering.h"

namespace popdist::pod {

Topology::Topology(PodSpec spec) : spec_(std::move(spec)) {
  POP_CHECK(spec_.pods >= 1 && spec_.machines_per_pod >= 1);
  links_from_.resize(static_cast<std::size_t>(spec_.ipuCount() + spec_.pods * spec_.machines_per_pod));
  for (int pod = 0; pod < spec_.pods; ++pod) addLadder(pod);
  addHostLinks();
  // A ring of Pods: the last is a neighbour of the first, which for two Pods would be the same pair again.
  for (int pod = 0; pod + 1 < spec_.pods; ++pod) addGwLinks(pod, pod + 1);
  if (spec_.pods > 2) addGwLinks(spec_.pods - 1, 0);
}

int Topology::gatewayOf(int ipu) const {
  return spec_.ipuCount() + machineOf(ipu);
}

int Topology::linkId(int from, int to, LinkKind kind) const {
  for (const int id : links_from_[static_cast<std::size_t>(from)]) {
    const Link& link = links_[static_cast<std::size_t>(id)];
    if (link.to == to && link.kind == kind) return id;
  }
  POP_CHECK(!"there is no such link");
  return -1;
}

void Topology::addBoth(int a, int b, LinkKind kind, std::uint64_t bytes_per_s) {
  addLink(a, b, kind, bytes_per_s);
  addLink(b, a, kind, bytes_per_s);
}

void Topology::addLink(int from, int to, LinkKind kind, std::uint64_t bytes_per_s) {
  const int id = static_cast<int>(links_.size());
  links_.push_back({id, from, to, kind, bytes_per_s});
  links_from_[static_cast<std::size_t>(from)].push_back(id);
}

void Topology::addLadder(int pod) {
  const int rows = spec_.ipusPerPod() / 2;
  for (int row = 0; row < rows; ++row) {
    const int left = ipuAt(spec_, pod, row, 0);
    const int right = ipuAt(spec_, pod, row, 1);
    addBoth(left, right, LinkKind::kRung, spec_.links.rung_bytes_per_s);
    addBoth(left, right, LinkKind::kCrossRung, spec_.links.cross_rung_bytes_per_s);
    if (row + 1 == rows) break;
    addBoth(left, ipuAt(spec_, pod, row + 1, 0), LinkKind::kRail, spec_.links.rail_bytes_per_s);
    addBoth(right, ipuAt(spec_, pod, row + 1, 1), LinkKind::kRail, spec_.links.rail_bytes_per_s);
  }
}

void Topology::addHostLinks() {
  for (int ipu = 0; ipu < spec_.ipuCount(); ++ipu) {
    addBoth(ipu, gatewayOf(ipu), LinkKind::kHostLink, spec_.links.host_link_bytes_per_s);
  }
}

void Topology::addGwLinks(int pod, int next_pod) {
  for (int row = 0; row < spec_.ipusPerPod() / 2; row += 2) {
    addBoth(gatewayOf(ipuAt(spec_, pod, row, 0)), gatewayOf(ipuAt(spec_, next_pod, row, 0)),
            LinkKind::kGwLink, spec_.links.gw_link_bytes_per_s);
  }
}

}  // namespace popdist::pod
