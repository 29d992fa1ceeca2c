// SPDX-License-Identifier: Apache-2.0
#include "pod/system/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace pop::pod {
namespace {

Topology topologyNamed(const char* name) {
  return Topology(podSpecByName(name).value());
}

long linksOf(const Topology& topology, LinkKind kind) {
  return std::ranges::count(topology.links(), kind, &Link::kind);
}

TEST(Topology, APodIsALadderOfRungsAndRails) {
  const Topology pod16 = topologyNamed("pod16");
  EXPECT_EQ(linksOf(pod16, LinkKind::kRung), 2 * 8);
  EXPECT_EQ(linksOf(pod16, LinkKind::kCrossRung), 2 * 8);
  EXPECT_EQ(linksOf(pod16, LinkKind::kRail), 2 * 2 * 7);
  EXPECT_EQ(linksOf(pod16, LinkKind::kHostLink), 2 * 16);
  EXPECT_EQ(linksOf(pod16, LinkKind::kGwLink), 0);
}

TEST(Topology, PodsAreLaddersOfTheirOwn) {
  const Topology pod128 = topologyNamed("pod128");
  EXPECT_EQ(linksOf(pod128, LinkKind::kRail), 2 * (2 * 2 * 31));
  for (const Link& link : pod128.links()) {
    if (link.kind == LinkKind::kRail) {
      EXPECT_EQ(link.from / 64, link.to / 64);
    }
  }
}

TEST(Topology, TwoPodsAreJoinedByOnePairOfGwLinksAMachine) {
  EXPECT_EQ(linksOf(topologyNamed("pod128"), LinkKind::kGwLink), 2 * 16);
}

TEST(Topology, FourPodsFormARing) {
  const Topology pod256 = topologyNamed("pod256");
  EXPECT_EQ(linksOf(pod256, LinkKind::kGwLink), 2 * 16 * 4);
  for (const Link& link : pod256.links()) {
    if (link.kind == LinkKind::kGwLink) {
      EXPECT_EQ(link.bytes_per_s, pod256.spec().links.gw_link_bytes_per_s);
    }
  }
}

TEST(Topology, KnowsTheLinksOfARingOfPods) {
  for (const char* name : {"pod128", "pod256"}) {
    const Topology topology = topologyNamed(name);
    const int ilds = topology.spec().ilds();
    const auto gatewayAt = [&](int slot, int ild) { return topology.spec().ipuCount() + ild * 16 + slot; };
    for (int ild = 0; ild < ilds; ++ild) {
      const int next = (ild + 1) % ilds;
      for (int slot = 0; slot < 16; ++slot) {
        const int here = gatewayAt(slot, ild);
        const int above = gatewayAt(slot, next);
        EXPECT_EQ(topology.ring(slot, true)[static_cast<std::size_t>(ild)],
                  topology.linkId(here, above, LinkKind::kGwLink));
        EXPECT_EQ(topology.ring(slot, false)[static_cast<std::size_t>(next)],
                  topology.linkId(above, here, LinkKind::kGwLink));
      }
    }
  }
  PodSpec cut = podSpecByName("pod256").value();
  cut.removed_links.emplace_back(256, 256 + 16);
  EXPECT_EQ(Topology(cut).ring(0, true)[0], -1);
  EXPECT_EQ(Topology(cut).ring(0, false)[1], -1);
}

TEST(Topology, ATorusAddsTheLoopBackCablesOfBothColumns) {
  EXPECT_EQ(linksOf(topologyNamed("pod64-torus"), LinkKind::kRail), 2 * 2 * 32);
  PodSpec two_rows = podSpecByName("pod4").value();
  two_rows.shape.topology = IldTopology::kTorus;
  EXPECT_EQ(linksOf(Topology(two_rows), LinkKind::kRail), 2 * 2);
}

// 8n links of 2 x 2 x n IPUs, four at each IPU.
TEST(Topology, ABarleyTwistIsATorusOfSquares) {
  const Topology twist = topologyNamed("pod64-twist");
  EXPECT_EQ(linksOf(twist, LinkKind::kRung) + linksOf(twist, LinkKind::kRail), 2 * 8 * 16);
  EXPECT_EQ(linksOf(twist, LinkKind::kCrossRung), 0);
  for (int ipu = 0; ipu < 64; ++ipu)
    EXPECT_EQ(
        std::ranges::count_if(
            twist.linksFrom(ipu),
            [&](int id) { return twist.links()[static_cast<std::size_t>(id)].kind != LinkKind::kHostLink; }),
        4)
        << ipu;
}

TEST(Topology, OneSwitchForEachSlotJoinsAllIlds) {
  PodSpec spec = podSpecByName("pod256").value();
  spec.shape.gateways = GatewayTopology::kSwitched;
  const Topology switched(spec);
  EXPECT_EQ(switched.nodes(), 256 + 64 + 16);
  EXPECT_EQ(linksOf(switched, LinkKind::kGwLink), 2 * 64);
}

TEST(Topology, AMk1ServerHasOneGateway) {
  const Topology servers = topologyNamed("mk1-64");
  EXPECT_EQ(servers.nodes(), 64 + 4 + 1);
  EXPECT_EQ(servers.gatewayOf(15), servers.gatewayOf(0));
  EXPECT_EQ(linksOf(servers, LinkKind::kGwLink), 2 * 4);
}

TEST(Topology, ARemovedLinkIsGoneInBothDirections) {
  PodSpec spec = podSpecByName("pod16").value();
  spec.removed_links.emplace_back(4, 2);
  const Topology without(spec);
  EXPECT_EQ(without.linkId(2, 4, LinkKind::kRail), -1);
  EXPECT_EQ(without.linkId(4, 2, LinkKind::kRail), -1);
  EXPECT_TRUE(isConnected(without, false));
  spec.removed_links.emplace_back(3, 5);
  EXPECT_FALSE(isConnected(Topology(spec), false));
  EXPECT_FALSE(isConnected(Topology(spec)));
}

TEST(Topology, EachLinkHasTheBandwidthOfItsKind) {
  const Topology pod128 = topologyNamed("pod128");
  const LinkSpec& spec = pod128.spec().links;
  for (const Link& link : pod128.links()) {
    switch (link.kind) {
      case LinkKind::kRung:
        EXPECT_EQ(link.bytes_per_s, spec.rung_bytes_per_s);
        break;
      case LinkKind::kCrossRung:
        EXPECT_EQ(link.bytes_per_s, spec.cross_rung_bytes_per_s);
        break;
      case LinkKind::kRail:
        EXPECT_EQ(link.bytes_per_s, spec.rail_bytes_per_s);
        break;
      case LinkKind::kHostLink:
        EXPECT_EQ(link.bytes_per_s, spec.host_link_bytes_per_s);
        break;
      case LinkKind::kGwLink:
        EXPECT_EQ(link.bytes_per_s, 2 * spec.gw_link_bytes_per_s);
        break;
    }
  }
}

TEST(Topology, EveryLinkIsThereOnceAndInBothDirections) {
  const Topology pod256 = topologyNamed("pod256");
  std::set<std::tuple<int, int, LinkKind>> seen;
  for (const Link& link : pod256.links()) {
    EXPECT_TRUE(seen.emplace(link.from, link.to, link.kind).second) << link.from << " to " << link.to;
  }
  for (const auto& [from, to, kind] : seen)
    EXPECT_TRUE(seen.contains({to, from, kind})) << to << " to " << from;
}

TEST(Topology, IdsAreIndices) {
  const Topology pod4 = topologyNamed("pod4");
  for (std::size_t index = 0; index < pod4.links().size(); ++index) {
    const Link& link = pod4.links()[index];
    EXPECT_EQ(link.id, static_cast<int>(index));
    EXPECT_EQ(pod4.linkId(link.from, link.to, link.kind), link.id);
  }
}

}  // namespace
}  // namespace pop::pod
