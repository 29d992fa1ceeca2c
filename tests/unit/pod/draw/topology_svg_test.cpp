// SPDX-License-Identifier: Apache-2.0
#include "pod/draw/topology_svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <vector>

#include "pod/system/system_text.h"
#include "pod/system/topology.h"

namespace pop::pod {
namespace {

PodSpec preset(const std::string& name) {
  return podSpecByName(name).value();
}

std::size_t timesIn(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

// Each tag is closed in its turn, and no name or value breaks out of its place.
bool isWellFormed(const std::string& svg) {
  static const std::regex kTag(R"re(<(/?)([a-z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(/?)>)re");
  static const std::regex kBare("&(?!amp;|lt;|gt;|quot;)");
  std::vector<std::string> open;
  std::size_t end = 0;
  for (std::sregex_iterator tag(svg.begin(), svg.end(), kTag), none; tag != none; ++tag) {
    const auto at = static_cast<std::size_t>(tag->position());
    if (svg.substr(end, at - end).find('<') != std::string::npos) return false;
    end = at + static_cast<std::size_t>(tag->length());
    if ((*tag)[1].length() > 0) {
      if (open.empty() || open.back() != (*tag)[2]) return false;
      open.pop_back();
    } else if ((*tag)[4].length() == 0) {
      open.push_back((*tag)[2]);
    }
  }
  return open.empty() && svg.find('<', end) == std::string::npos && !std::regex_search(svg, kBare);
}

std::vector<std::pair<double, double>> squaresOf(const std::string& svg) {
  static const std::regex kSquare(R"re(<rect x="([-0-9.]+)" y="([-0-9.]+)"[^>]* class="ipu )re");
  std::vector<std::pair<double, double>> squares;
  for (std::sregex_iterator square(svg.begin(), svg.end(), kSquare), none; square != none; ++square)
    squares.emplace_back(std::stod((*square)[1]), std::stod((*square)[2]));
  return squares;
}

std::size_t ipuAndHostLinkPairs(const PodSpec& spec) {
  const Topology topology(spec);
  std::size_t links = 0;
  for (const Link& link : topology.links()) links += link.kind == LinkKind::kGwLink ? 0 : 1;
  return links / 2;
}

TEST(TopologySvg, PresetsOfUpToEightDomainsAreDrawnWhole) {
  for (const PodSpec& spec : podPresets()) {
    if (spec.ilds() > 8) continue;
    const std::string svg = topologySvg(spec);
    EXPECT_TRUE(isWellFormed(svg)) << spec.name;
    EXPECT_EQ(squaresOf(svg).size(), static_cast<std::size_t>(spec.ipuCount())) << spec.name;
    EXPECT_EQ(timesIn(svg, "class=\"link "), ipuAndHostLinkPairs(spec)) << spec.name;
  }
}

TEST(TopologySvg, NoSquareIsOnAnother) {
  for (const PodSpec& spec : podPresets()) {
    const auto squares = squaresOf(topologySvg(spec));
    for (std::size_t i = 0; i < squares.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_TRUE(std::abs(squares[i].first - squares[k].first) > 30 ||
                    std::abs(squares[i].second - squares[k].second) > 30)
            << spec.name << ": " << i << " and " << k;
      }
    }
  }
}

TEST(TopologySvg, IpusAreNumberedFromTheBottomLeft) {
  const auto squares = squaresOf(topologySvg(preset("pod16")));
  EXPECT_LT(squares[0].first, squares[1].first);
  EXPECT_EQ(squares[0].second, squares[1].second);
  EXPECT_GT(squares[0].second, squares[2].second);
  EXPECT_GT(squares[2].second, squares[15].second);
}

TEST(TopologySvg, BundlesHoldAllGwLinks) {
  const std::string svg = topologySvg(preset("pod256"));
  EXPECT_EQ(timesIn(svg, "data-links=\"16\""), 4U);  // a ring of four domains, 16 gateways in each
  EXPECT_NE(svg.find("16 × 12.5 GB/s"), std::string::npos);
}

TEST(TopologySvg, ReplicasHaveTheirColoursAndTheRestIsGrey) {
  const ReplicaLayout layout{.spec = preset("pod16"), .replicas = 3, .ipus_per_replica = 4};
  const std::string svg = topologySvg(layout);
  for (const char* colour : {"ipu r0\"", "ipu r1\"", "ipu r2\"", "ipu free\""})
    EXPECT_EQ(timesIn(svg, colour), 4U) << colour;
  EXPECT_NE(svg.find("IPU 5, replica 1<"), std::string::npos);
  EXPECT_NE(svg.find("3 replicas of 4 IPUs"), std::string::npos);
}

TEST(TopologySvg, RemovedLinksAndSlowIpusAreMarked) {
  PodSpec spec = preset("pod16");
  const std::size_t links = timesIn(topologySvg(spec), "class=\"link ");
  spec.removed_links = {{2, 0}};
  spec.speed_of_ipu = {{3, 0.8}};
  const std::string svg = topologySvg(spec);
  EXPECT_EQ(timesIn(svg, "class=\"link "), links);
  EXPECT_EQ(timesIn(svg, "class=\"link removed\""), 1U);
  EXPECT_EQ(timesIn(svg, "IPU 3, speed 0.8<"), 1U);
}

TEST(TopologySvg, ManyDomainsAreShortenedAndItSaysSo) {
  PodSpec spec = preset("pod256");
  spec.shape.ilds = 20;
  const std::string svg = topologySvg(spec);
  EXPECT_EQ(squaresOf(svg).size(), 4U * 64);
  EXPECT_NE(svg.find("Not drawn: domains 3 to 18"), std::string::npos);
  EXPECT_NE(svg.find(">IPU-Link domain 19<"), std::string::npos);
}

TEST(TopologySvg, NamesAreEscaped) {
  PodSpec spec = preset("pod4");
  spec.name = "<script>\"a\" & b</script>";
  const std::string svg = topologySvg(spec);
  EXPECT_TRUE(isWellFormed(svg));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
}

TEST(TopologySvg, AWiringOfItsOwnIsACircle) {
  PodSpec spec{.name = "triangle"};
  spec.wiring = Wiring{.ipus = 3, .gateways = 1, .switches = 0, .wires = {}};
  spec.wiring->wires = {{0, 1, LinkKind::kRail, 1'000'000'000},
                        {1, 2, LinkKind::kRail, 2'000'000'000},
                        {2, 0, LinkKind::kRail, 2'000'000'000},
                        {0, 3, LinkKind::kHostLink, 500'000'000}};
  const std::string svg = topologySvg(spec);
  EXPECT_TRUE(isWellFormed(svg));
  EXPECT_EQ(squaresOf(svg).size(), 3U);
  EXPECT_EQ(timesIn(svg, "class=\"link "), 4U);
  EXPECT_NE(svg.find("IPU-Links: 1 to 2 GB/s"), std::string::npos);
}

TEST(TopologySvg, DomainsMeetAtSwitches) {
  PodSpec spec = preset("pod256");
  spec.shape.gateways = GatewayTopology::kSwitched;
  const std::string svg = topologySvg(spec);
  EXPECT_EQ(timesIn(svg, "data-links=\"16\""), 4U);
  EXPECT_NE(svg.find("16 switches"), std::string::npos);
}

TEST(TopologySvg, ASwitchIsOneAndRatesStandBesideTheirLinks) {
  const std::string svg = topologySvg(preset("mk1-64"));
  EXPECT_NE(svg.find(">a switch<"), std::string::npos);
  EXPECT_EQ(timesIn(svg, "class=\"small end\">1 × 12.5 GB/s<"), 4U) << "to the left of each bundle";
}

TEST(TopologySvg, HostLinksOfAServerGoOverABus) {
  const std::string svg = topologySvg(preset("mk1-16"));
  EXPECT_EQ(timesIn(svg, "class=\"link host\""), 16U);
  EXPECT_EQ(timesIn(svg, "<line"), timesIn(topologySvg(preset("pod16")), "<line") - 16)
      << "as pod16, but its host links are paths";
}

TEST(TopologySvg, ARingGoesOnWhereDomainsAreLeftOut) {
  PodSpec spec = preset("pod256");
  spec.shape.ilds = 20;
  EXPECT_EQ(timesIn(topologySvg(spec), "data-links=\"16\""), 5U)
      << "two between three domains, two to those left out, one back to the first";
}

TEST(TopologySvg, LongNumbersAreSmall) {
  const std::string svg = topologySvg(preset("pod65536"));
  EXPECT_NE(svg.find("class=\"on tiny\">65535<"), std::string::npos);
  EXPECT_NE(svg.find("class=\"on tiny gateway-name\">g16383<"), std::string::npos);
  EXPECT_NE(svg.find("class=\"on\">191<"), std::string::npos);
}

TEST(TopologySvg, CablesOfNeighbouringDomainsStandApart) {
  PodSpec spec = preset("pod64-torus");
  spec.shape.ilds = 2;
  const std::string svg = topologySvg(spec);
  static const std::regex kCable(R"re(<path d="M[-0-9.]+ [-0-9.]+H([-0-9.]+)V)re");
  std::vector<double> sides;
  for (std::sregex_iterator cable(svg.begin(), svg.end(), kCable), none; cable != none; ++cable)
    sides.push_back(std::stod((*cable)[1]));
  ASSERT_EQ(sides.size(), 4U);
  std::ranges::sort(sides);
  EXPECT_LT(sides[1] + 10, sides[2]) << "the first domain's cables are left of the second's";
  EXPECT_LT(sides[1] - sides[0], 400) << "both sides of one domain";
}

TEST(TopologySvg, LinksOfAWiringGoAroundGateways) {
  PodSpec spec{.name = "cross"};
  spec.wiring = Wiring{.ipus = 4, .gateways = 1, .switches = 1, .wires = {}};
  for (int ipu = 0; ipu < 4; ++ipu) {
    spec.wiring->wires.push_back({ipu, (ipu + 1) % 4, LinkKind::kRail, 1'000'000'000});
    spec.wiring->wires.push_back({ipu, 4, LinkKind::kHostLink, 1'000'000'000});
  }
  spec.wiring->wires.push_back({0, 2, LinkKind::kRail, 1'000'000'000});
  spec.wiring->wires.push_back({4, 5, LinkKind::kGwLink, 1'000'000'000});
  const std::string svg = topologySvg(spec);
  EXPECT_EQ(timesIn(svg, "class=\"link rail\""), 5U);
  static const std::regex kBow("<path d=\"M[^\"]*C[^\"]*\" class=\"link rail\"");
  std::smatch bow;
  EXPECT_TRUE(std::regex_search(svg, bow, kBow)) << "IPU 0 to IPU 2, past the switch in the middle";
}

}  // namespace
}  // namespace pop::pod
