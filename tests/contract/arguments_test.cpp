// SPDX-License-Identifier: Apache-2.0
// Wrong arguments are refused, and leave the communicator as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::Each;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr std::size_t kHuge = SIZE_MAX / 2;

TEST(WrongArguments, OfThisRankAloneLeaveTheCommunicatorUsable) {
  const std::vector<std::pair<const char*, Call>> calls{
      {"counts for 2 ranks", gatherOf({1, 2})},
      {"counts for no rank", gatherOf({})},
      {"counts beyond memory", gatherOf({kHuge, kHuge, kHuge})},
      {"ragged gather to nowhere",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         world.allGather(nullptr, nullptr, counts, Type::kFloat);
       }},
      {"ragged gather from nowhere, with a block of its own",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         std::vector<float> in(3);
         world.allGather(in.data(), nullptr, counts, Type::kFloat);
       }},
      {"received counts for no rank", exchangeOf({1, 1, 1}, {})},
      {"sent counts for no rank", exchangeOf({}, {1, 1, 1})},
      {"received counts for 2 ranks", exchangeOf({1, 1, 1}, {1, 1})},
      {"ragged exchange from nowhere",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         std::vector<float> out(6);
         world.allToAll(nullptr, counts, out.data(), counts, Type::kFloat);
       }},
      {"ragged exchange to nowhere",
       [](Context&, Communicator& world) {
         const std::vector<std::size_t> counts{1, 2, 3};
         std::vector<float> in(6);
         world.allToAll(in.data(), counts, nullptr, counts, Type::kFloat);
       }},
      {"huge count", [](Context&, Communicator& world) { world.broadcast(&world, kHuge, Type::kFloat, 0); }},
      {"sending to no rank", transferOf(1, 3, 1, 0)},
      {"receiving from no rank", transferOf(1, 0, 1, -2)},
      {"sending too much",
       [](Context&, Communicator& world) {
         world.sendRecv(&world, kHuge, 0, nullptr, 0, kNobody, Type::kFloat);
       }},
      {"sending from nowhere",
       [](Context&, Communicator& world) {
         world.sendRecv(nullptr, 1, 0, nullptr, 0, kNobody, Type::kFloat);
       }},
      {"receiving to nowhere",
       [](Context&, Communicator& world) {
         world.sendRecv(nullptr, 0, kNobody, nullptr, 1, 0, Type::kFloat);
       }},
      {"receiving where it sends from",
       [](Context&, Communicator& world) {
         std::vector<float> data(3);
         world.sendRecv(data.data(), 2, 0, data.data() + 1, 2, 0, Type::kFloat);
       }},
      {"no such operator", sumOf(3, static_cast<Operator>(99))},
      {"mean of integers", sumOf(3, Operator::kMean)},
      {"bitwise operator of floats", sumOf(3, Operator::kBitXor, Type::kFloat)},
      {"no time", [](Context&, Communicator& world) { world.barrier({.timeout = Milliseconds(0)}); }},
  };
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
  group.run([&](Context& context) {
    for (const auto& [what, call] : calls) {
      const Reported report = reportOf([&, &refused = call] { refused(context, context.world()); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kInvalidArgument)) << what << ": " << report.what;
      std::vector<int> one{1};
      context.world().allReduce(std::span(one));
      ASSERT_EQ(one[0], 3) << what;
    }
  });
}

TEST(ForcedAlgorithm, ThatDoesNotExistIsRefused) {
  ::setenv("POPDIST_SHARED_ALGORITHM", "fastest", 1);
  ThreadGroup group(1);
  const Reported report = reportOf([&] { group.run([](Context&) {}); });
  ::unsetenv("POPDIST_SHARED_ALGORITHM");
  EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kInvalidArgument));
  EXPECT_THAT(report.what, HasSubstr("POPDIST_SHARED_ALGORITHM"));
}

TEST(Timeout, MayBeAsLongAsCanBeSaid) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    std::vector<float> data(100'000, 1.0F);
    const CallOptions for_ever{.timeout = Milliseconds::max()};
    for (int call = 0; call < 20; ++call) {
      if (context.instanceIndex() == 1) std::this_thread::yield();
      context.world().allReduce(std::span(data), Operator::kMax, for_ever);
    }
    EXPECT_THAT(data, Each(1.0F));
  });
}

}  // namespace
}  // namespace popdist::contract
