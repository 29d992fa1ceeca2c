// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/routes.h"

#include "libpopdist/pod/model/numbering.h"

namespace popdist::pod {
namespace {

void appendInsidePod(const Topology& topology, int from_ipu, int to_ipu, Route& route) {
  int at = from_ipu;
  if (at % 2 != to_ipu % 2) {
    const int partner = at ^ 1;
    const LinkKind kind = partner == to_ipu ? LinkKind::kRung : LinkKind::kCrossRung;
    route.push_back(topology.linkId(at, partner, kind));
    at = partner;
  }
  const int row_step = to_ipu > at ? 2 : -2;
  for (; at != to_ipu; at += row_step) {
    route.push_back(topology.linkId(at, at + row_step, LinkKind::kRail));
  }
}

/// From `ipu` to the IPU in the same place of `to_pod`'s gateway: appends the GW-Links, returns the last
/// gateway.
int appendAcrossPods(const Topology& topology, int ipu, int to_pod, Route& route) {
  const PodSpec& spec = topology.spec();
  const int from_pod = positionOf(spec, ipu).pod;
  const int upwards = (to_pod - from_pod + spec.pods) % spec.pods;
  const int pod_step = 2 * upwards <= spec.pods ? 1 : spec.pods - 1;
  int at = topology.gatewayOf(ipu);
  for (int pod = from_pod; pod != to_pod;) {
    pod = (pod + pod_step) % spec.pods;
    const int next = topology.gatewayOf(pod * spec.ipusPerPod() + ipu % spec.ipusPerPod());
    route.push_back(topology.linkId(at, next, LinkKind::kGwLink));
    at = next;
  }
  return at;
}

}  // namespace

Route route(const Topology& topology, int from_ipu, int to_ipu) {
  const PodSpec& spec = topology.spec();
  const int to_pod = positionOf(spec, to_ipu).pod;
  Route route;
  if (positionOf(spec, from_ipu).pod == to_pod) {
    appendInsidePod(topology, from_ipu, to_ipu, route);
    return route;
  }
  route.push_back(topology.linkId(from_ipu, topology.gatewayOf(from_ipu), LinkKind::kHostLink));
  const int gateway = appendAcrossPods(topology, from_ipu, to_pod, route);
  const int same_place = to_pod * spec.ipusPerPod() + from_ipu % spec.ipusPerPod();
  const int entry = machineOf(same_place) == machineOf(to_ipu) ? to_ipu : same_place;
  route.push_back(topology.linkId(gateway, entry, LinkKind::kHostLink));
  appendInsidePod(topology, entry, to_ipu, route);
  return route;
}

}  // namespace popdist::pod
