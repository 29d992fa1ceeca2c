// SPDX-License-Identifier: Apache-2.0
// Collectives on typed memory and on single values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "popdist/communicator.hpp"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using ::testing::ElementsAre;
using testing::errorOf;
using ::testing::HasSubstr;
using testing::ThreadGroup;

void runOnMembers(const std::function<void(Communicator&)>& body) {
  ThreadGroup group(2);
  group.run([&](Context& context) { body(context.world()); });
}

TEST(TypedCalls, ReduceSingleValues) {
  runOnMembers([](Communicator& world) {
    EXPECT_EQ(world.allReduce(world.rank() + 1), 3);
    EXPECT_EQ(world.allReduce(1.0F + static_cast<float>(world.rank()), Operator::kMean), 1.5F);
    const std::int64_t mine = 10 + world.rank();
    EXPECT_EQ(world.allReduce(mine, Operator::kMax), 11);
    EXPECT_EQ(mine, 10 + world.rank());
    EXPECT_EQ(world.allReduceSum(2.0 * world.rank()), 2.0);
    EXPECT_EQ(world.broadcast(2.5 * world.rank(), 1), 2.5);
    EXPECT_EQ(static_cast<float>(world.allReduce(bfloat16(2.0F))), 4.0F);
  });
}

TEST(TypedCalls, GoFromOneMemoryToAnother) {
  runOnMembers([](Communicator& world) {
    const int rank = world.rank();
    const std::array<int, 2> in{rank + 1, 10 * (rank + 1)};
    std::vector<int> two(2);
    std::vector<int> four(4);
    std::array<int, 1> one{};
    world.allReduce(in, two);
    EXPECT_THAT(two, ElementsAre(3, 30));
    world.allReduce(in, two, Operator::kMin);
    EXPECT_THAT(two, ElementsAre(1, 10));
    world.reduceScatter(in, one, Operator::kMax);
    EXPECT_THAT(one, ElementsAre(rank == 0 ? 2 : 20));
    world.allGather(in, four);
    EXPECT_THAT(four, ElementsAre(1, 10, 2, 20));
    world.allToAll(in, two);
    EXPECT_THAT(two, rank == 0 ? ElementsAre(1, 2) : ElementsAre(10, 20));
  });
}

TEST(TypedCalls, RefuseMemoryOfOtherSizesAndGoOn) {
  runOnMembers([](Communicator& world) {
    const std::vector<float> three(3, 1.0F);
    std::vector<float> two(2);
    const auto message = [](const std::function<void()>& call) {
      const popdist_error error = errorOf(call);
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    };
    EXPECT_THAT(message([&] { world.allReduce(three, two); }), HasSubstr("has 2 elements, expected 3"));
    EXPECT_THAT(message([&] { world.reduceScatter(three, two); }), HasSubstr("has 3 elements, expected 4"));
    EXPECT_THAT(message([&] { world.allGather(three, two); }), HasSubstr("has 2 elements, expected 6"));
    std::vector<float> all(3);
    EXPECT_THAT(message([&] { world.allToAll(three, all); }), HasSubstr("3 elements are no equal blocks"));
    world.allReduce(three, all);
    EXPECT_THAT(all, ElementsAre(2, 2, 2));
  });
}

}  // namespace
}  // namespace popdist
