// SPDX-License-Identifier: Apache-2.0
#include "pod/system/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "pod/collectives/replica_order.h"

namespace pop::pod {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Topology topologyOf(const char* name) {
  return Topology(podSpecByName(name).value());
}

const Link& linkOf(const Topology& topology, int id) {
  return topology.links()[static_cast<std::size_t>(id)];
}

std::vector<LinkKind> kinds(const Topology& topology, const Route& route) {
  std::vector<LinkKind> kinds;
  for (const int id : route) kinds.push_back(linkOf(topology, id).kind);
  return kinds;
}

void expectConnected(const Topology& topology, int from, int to) {
  int at = from;
  for (const int id : route(topology, from, to)) {
    ASSERT_EQ(linkOf(topology, id).from, at) << from << " to " << to;
    at = linkOf(topology, id).to;
  }
  EXPECT_EQ(at, to) << "from " << from;
}

TEST(Routes, LeadFromEveryIpuToEveryOtherInEqualHopsBack) {
  for (const char* name : {"pod16", "pod128"}) {
    const Topology topology = topologyOf(name);
    for (int a = 0; a < topology.spec().ipuCount(); ++a) {
      for (int b = a % 7; b < topology.spec().ipuCount(); b += 3) {
        expectConnected(topology, a, b);
        EXPECT_EQ(route(topology, a, b).size(), route(topology, b, a).size()) << a << " and " << b;
      }
    }
  }
}

TEST(Routes, ToItselfIsEmpty) {
  EXPECT_THAT(route(topologyOf("pod16"), 5, 5), IsEmpty());
}

TEST(Routes, CrossTheRungFirstThenGoAlongTheRail) {
  const Topology pod16 = topologyOf("pod16");
  const Route route_up = route(pod16, 0, 5);
  EXPECT_THAT(kinds(pod16, route_up), ElementsAre(LinkKind::kCrossRung, LinkKind::kRail, LinkKind::kRail));
  EXPECT_EQ(linkOf(pod16, route_up.front()).to, 1);
  EXPECT_THAT(kinds(pod16, route(pod16, 7, 3)), ElementsAre(LinkKind::kRail, LinkKind::kRail));
}

TEST(Routes, PartnersHaveTheirRungToThemselves) {
  const Topology pod16 = topologyOf("pod16");
  EXPECT_THAT(kinds(pod16, route(pod16, 8, 9)), ElementsAre(LinkKind::kRung));
}

TEST(Routes, ToTheSamePlaceInTheNextPodCrossOneGwLink) {
  const Topology pod128 = topologyOf("pod128");
  EXPECT_THAT(kinds(pod128, route(pod128, 5, 64 + 5)),
              ElementsAre(LinkKind::kHostLink, LinkKind::kGwLink, LinkKind::kHostLink));
}

TEST(Routes, LeaveTheGatewayAtTheRightIpuOfTheMachine) {
  const Topology pod128 = topologyOf("pod128");
  EXPECT_THAT(kinds(pod128, route(pod128, 4, 64 + 7)),
              ElementsAre(LinkKind::kHostLink, LinkKind::kGwLink, LinkKind::kHostLink));
}

TEST(Routes, GoOnInsideTheOtherPod) {
  const Topology pod128 = topologyOf("pod128");
  EXPECT_THAT(kinds(pod128, route(pod128, 0, 64 + 5)),
              ElementsAre(LinkKind::kHostLink, LinkKind::kGwLink, LinkKind::kHostLink, LinkKind::kCrossRung,
                          LinkKind::kRail, LinkKind::kRail));
}

TEST(Routes, TakeTheShorterWayRoundTheRingOfPods) {
  const Topology pod256 = topologyOf("pod256");
  expectConnected(pod256, 0, 3 * 64);
  expectConnected(pod256, 2 * 64 + 9, 9);
  EXPECT_EQ(route(pod256, 0, 3 * 64).size(), 3u);
  EXPECT_EQ(route(pod256, 3 * 64, 0).size(), 3u);
  EXPECT_EQ(route(pod256, 0, 2 * 64).size(), 4u);
}

TEST(Routes, RingNeighboursWithOneIpuEachAreOneLinkApart) {
  const Topology pod64 = topologyOf("pod64");
  for (int replicas = 2; replicas <= 64; replicas += 2) {
    const std::vector<int> ring = replicaOrder(RingOrder::kInterleaved, replicas);
    for (std::size_t p = 0; p < ring.size(); ++p) {
      EXPECT_EQ(route(pod64, ring[p], ring[(p + 1) % ring.size()]).size(), 1u) << replicas << " replicas";
    }
  }
}

}  // namespace
}  // namespace pop::pod
