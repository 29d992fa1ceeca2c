// SPDX-License-Identifier: Apache-2.0
// Placement beside a search that tries every block.
#include "popdistd/partitions/ipu_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/base/random.h"

namespace pop::vipu {
namespace {

bool isFree(const IpuMasks& free, int first_ild, int segments, int first, int ipus) {
  for (int ild = first_ild; ild < first_ild + segments; ++ild)
    for (int ipu = first; ipu < first + ipus; ++ipu)
      if ((free[static_cast<std::size_t>(ild)] >> ipu & 1U) == 0) return false;
  return true;
}

// The largest free block around a free one.
int wholeBlock(const IpuMasks& free, int ild, int segments, int first, int ipus) {
  while (ipus < kMaxIldIpus && isFree(free, ild, segments, first / (2 * ipus) * 2 * ipus, 2 * ipus)) {
    ipus *= 2;
    first = first / ipus * ipus;
  }
  return ipus;
}

std::optional<BlockFit> searched(const IpuMasks& free, int segments, int ipus) {
  std::optional<BlockFit> best;
  for (int ild = 0; ild + segments <= static_cast<int>(free.size()); ++ild) {
    for (int first = 0; first < kMaxIldIpus; first += ipus) {
      if (!isFree(free, ild, segments, first, ipus)) continue;
      const int whole = wholeBlock(free, ild, segments, first, ipus);
      if (!best || whole < best->taken_from) best = BlockFit{whole, {ild, segments, first, ipus}};
    }
  }
  return best;
}

IpuMasks randomMasks(SplitMix64& random) {
  IpuMasks free(1 + random.below(5));
  for (IpuMask& ild : free) {
    ild = random.next();
    // From nearly empty to nearly full, in single IPUs or in blocks.
    for (std::uint64_t i = random.below(4); i > 0; --i) ild &= random.next();
    for (std::uint64_t i = random.below(4); i > 0; --i) ild |= random.next();
    if (random.below(2) == 0) ild |= IpuMask{0xffff} << (16 * random.below(4));
  }
  return free;
}

TEST(IpuBlocks, BestFitIsWhatTryingEveryBlockFinds) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SplitMix64 random(seed);
    const IpuMasks free = randomMasks(random);
    for (int ipus = 1; ipus <= kMaxIldIpus; ipus *= 2) {
      for (int segments = 1; segments <= 4; segments *= 2) {
        const auto found = bestFit(free, segments, ipus);
        const auto expected = searched(free, segments, ipus);
        ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed << ", " << ipus << " IPUs";
        if (!found) continue;
        EXPECT_EQ(found->place, expected->place) << "seed " << seed << ", " << ipus << " IPUs";
        EXPECT_EQ(found->taken_from, expected->taken_from) << "seed " << seed;
      }
    }
  }
}

TEST(IpuBlocks, TheLargestBlockIsTheLargestThatFits) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SplitMix64 random(seed);
    const IpuMasks free = randomMasks(random);
    for (int segments = 1; segments <= 4; segments *= 2) {
      int largest = 0;
      for (int ipus = 1; ipus <= kMaxIldIpus; ipus *= 2)
        if (searched(free, segments, ipus)) largest = ipus;
      EXPECT_EQ(largestBlock(free, segments), largest) << "seed " << seed;
    }
  }
}

TEST(IpuBlocks, FragmentationComparesWithFreeIpusThatLieTogether) {
  EXPECT_DOUBLE_EQ(fragmentation(IpuMasks{0}, 64), 0);
  EXPECT_DOUBLE_EQ(fragmentation(IpuMasks{~IpuMask{0}}, 64), 0);
  EXPECT_DOUBLE_EQ(fragmentation(IpuMasks{0x00ff}, 64), 0);
  EXPECT_DOUBLE_EQ(fragmentation(IpuMasks{0x0f0f}, 64), 0.5) << "8 are free, but 4 at most together";
  EXPECT_DOUBLE_EQ(fragmentation(IpuMasks{~IpuMask{0}, ~IpuMask{0}}, 64), 0) << "a block is within an ILD";
  EXPECT_DOUBLE_EQ(fragmentation(IpuMasks{0x5555555555555555}, 64), 1 - 1.0 / 32);
}

}  // namespace
}  // namespace pop::vipu
