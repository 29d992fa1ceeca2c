// SPDX-License-Identifier: Apache-2.0
// All-reduces over hosts that go in lanes, piece by piece.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "libpopdist/collectives/choice/over_hosts.h"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

constexpr int kLaneRanks = 4;
using LaneValues = std::vector<std::int32_t>;

LaneValues valuesOf(int rank, std::size_t count) {
  LaneValues values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(i % 1000) * (rank + 1);
  return values;
}

LaneValues sumsOf(std::size_t count) {
  LaneValues sums(count);
  for (std::size_t i = 0; i < count; ++i) sums[i] = static_cast<std::int32_t>(i % 1000) * (1 + 2 + 3 + 4);
  return sums;
}

// Two whole pieces, one that is not, and elements that no lane has.
constexpr std::size_t kLaneElements = 2 * choice::kLanesPieceBytes / sizeof(std::int32_t) + 1001;

TEST(AllReduceInLanes, OfSeveralPiecesIsTheSumWhereverItGoes) {
  testing::ThreadGroup group(
      {.replicas_of_instance = std::vector<int>(kLaneRanks, 1), .instances_per_host = 2});
  group.run([](Context& context) {
    Communicator& world = context.world();
    const LaneValues in = valuesOf(world.rank(), kLaneElements);
    LaneValues out(kLaneElements, -1);
    world.allReduce(in.data(), out.data(), kLaneElements, Type::kInt32);
    EXPECT_EQ(out, sumsOf(kLaneElements)) << "rank " << world.rank();
    EXPECT_EQ(in, valuesOf(world.rank(), kLaneElements)) << "the input is left alone";
    LaneValues in_place = in;
    world.allReduce(in_place.data(), in_place.data(), kLaneElements, Type::kInt32);
    EXPECT_EQ(in_place, sumsOf(kLaneElements)) << "rank " << world.rank();
  });
}

}  // namespace
}  // namespace popdist
