// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/uses.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pod/collectives/gcl.h"

namespace pop::pod {
namespace {

constexpr std::size_t kUsedBytes = 4;
constexpr std::uint64_t kUsedCount = 1'000'000;

struct OnAPod {
  ReplicaLayout layout;
  Topology topology{layout.spec};
  Schedule schedule = gclAllReduce(layout, layout.replicas);
  Uses uses = usesOf(topology, layout, schedule, kUsedCount, kUsedBytes);
  CollectiveTime time = simulate(topology, layout, schedule, kUsedCount, kUsedBytes);
};

TEST(Uses, TwoReplicasSendOverTheirRung) {
  const OnAPod pod{{podSpecByName("pod4").value(), 2, 1}};
  ASSERT_EQ(pod.uses.ipus.size(), 2U);
  for (const Use& ipu : pod.uses.ipus) {
    EXPECT_EQ(ipu.bytes, 4'000'000U);  // half of 4 MB, scattered and gathered
    EXPECT_EQ(ipu.busy, pod.time.total - roundCost(pod.layout) * pod.time.rounds);
  }
  const auto used = [](const Use& link) { return link.bytes > 0; };
  EXPECT_EQ(std::ranges::count_if(pod.uses.links, used), 2);
}

TEST(Uses, BusiestLinkIsTheClocks) {
  const OnAPod pod{{podSpecByName("pod16").value(), 8, 2}};
  const auto busiest = std::ranges::max_element(pod.uses.links, {}, &Use::bytes);
  EXPECT_EQ(busiest->bytes, pod.time.bytes_on_busiest_link);
  EXPECT_GT(busiest->busy, Picoseconds(0));
  EXPECT_LT(busiest->busy, pod.time.total);
  EXPECT_EQ(pod.uses.ipus.size(), 16U);
}

TEST(Uses, AloneNothingIsUsed) {
  const OnAPod pod{{podSpecByName("pod4").value(), 1, 1}};
  EXPECT_EQ(pod.uses.ipus.at(0).bytes, 0U);
  EXPECT_EQ(std::ranges::count(pod.uses.links, 0U, &Use::bytes),
            static_cast<std::ptrdiff_t>(pod.uses.links.size()));
}

}  // namespace
}  // namespace pop::pod
