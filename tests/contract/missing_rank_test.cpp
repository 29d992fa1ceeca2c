// SPDX-License-Identifier: Apache-2.0
// Errors of a host's ranks when another one does not come, comes too late, or has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr Milliseconds kAmpleToCome{2'000};  // for the ranks that are not late

TEST(LateRank, IsNamedAtTheDeadlineOfTheCall) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
  group.run([](Context& context) {
    Communicator& world = context.world();
    std::vector<float> data(100);
    world.allReduce(std::span(data));
    if (world.rank() != 2) {
      const auto begin = Clock::now();
      const Reported report = reportOf([&] {
        world.allReduce(std::span(data), Operator::kSum, {.tensor = "grad", .timeout = kAmpleToCome});
      });
      EXPECT_LT(Clock::now() - begin, kAmpleToCome + kInTime);
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kDeadlineExceeded)) << report.what;
      EXPECT_THAT(report.what, AllOf(HasSubstr("waiting for rank 2"), HasSubstr("it has not entered call 2"),
                                     HasSubstr("its last was call 1, allReduce (sum of 100 float)"),
                                     HasSubstr("allReduce (sum of 100 float 'grad') on rank " +
                                               std::to_string(world.rank()))));
      EXPECT_EQ(report.peer, 2) << report.what;
      EXPECT_THAT(reportOf([&] { world.synchronize(); }).what,
                  AllOf(HasSubstr("an earlier call on this communicator failed"), HasSubstr("rank 2")));
    }
    context.fence();
  });
}

// Others have been told that the call failed, and may use their memory for something else.
TEST(LateRank, DoesNotWriteWhereOthersHaveGivenUp) {
  constexpr std::size_t kCount = 100'000;
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = kLongTimeout});
  group.run([](Context& context) {
    Communicator& world = context.world();
    const Buffer data(context, kCount * sizeof(float));
    const auto sum = [&](Milliseconds timeout) {
      return reportOf([&] {
        world.allReduce(data.data(), data.data(), kCount, Type::kFloat, Operator::kSum, {.timeout = timeout});
      });
    };
    std::fill_n(data.as<float>(), kCount, 1.0F);
    if (world.rank() == 0) {
      EXPECT_EQ(sum(Milliseconds(50)).code, static_cast<int>(ErrorCode::kDeadlineExceeded));
      std::fill_n(data.as<float>(), kCount, 7.0F);
    }
    context.fence();
    if (world.rank() == 1) {
      EXPECT_THAT(sum(kLongTimeout).what, HasSubstr("rank 0 aborted the call"));
    }
    context.fence();
    EXPECT_EQ(std::count(data.as<float>(), data.as<float>() + kCount, world.rank() == 0 ? 7.0F : 1.0F),
              static_cast<std::ptrdiff_t>(kCount));
  });
}

// Every size: in the call slots, in the stages at once, chunk by chunk, in place.
TEST(LateRank, IsToldThatOthersHaveGivenUp) {
  for (const std::size_t count : {1U, 1000U, 1'000'000U}) {
    ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}, .timeout = kLongTimeout});
    group.run([count](Context& context) {
      Communicator& world = context.world();
      std::vector<float> data(count);
      if (world.rank() == 0) {
        const CallOptions soon{.timeout = Milliseconds(30)};
        EXPECT_EQ(reportOf([&] { world.allReduce(std::span(data), Operator::kSum, soon); }).code,
                  static_cast<int>(ErrorCode::kDeadlineExceeded));
      }
      context.fence();
      if (world.rank() == 1) {
        const auto begin = Clock::now();
        const Reported report = reportOf([&] {
          world.allReduce(std::span(data));  // may find all that it needs
          world.synchronize();
        });
        EXPECT_THAT(report.what, HasSubstr("rank 0 aborted the call"));
        EXPECT_LT(Clock::now() - begin, kInTime);
      }
    });
  }
}

TEST(EndedRank, IsNamedWhereverItIsMissed) {
  for (const std::size_t count : {1U, 1000U, 1'000'000U}) {
    ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
    group.run([&](Context& context) {
      std::vector<float> data(count);
      context.world().allReduce(std::span(data));
      if (context.instanceIndex() == 1) {
        group.end(1, false, "instance 1 (pid 7) was killed by SIGKILL");
        return;
      }
      const Reported report = reportOf([&] { context.world().allReduce(std::span(data)); });
      EXPECT_EQ(report.code, static_cast<int>(ErrorCode::kUnavailable));
      EXPECT_EQ(report.peer, 1);
      EXPECT_THAT(report.what, HasSubstr("instance 1 (pid 7) was killed by SIGKILL"));
    });
  }
}

TEST(EndedRank, ThatHasDoneItsPartIsNotMissed) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = kLongTimeout});
  group.run([&](Context& context) {
    std::vector<float> data(1000, 1.0F);
    if (context.instanceIndex() == 1) {
      context.world().allReduce(std::span(data));
      group.end(1, true, "instance 1 exited with code 0");
      return;
    }
    context.world().allReduce(std::span(data));
    EXPECT_THAT(data, Each(3.0F));
  });
}

}  // namespace
}  // namespace popdist::contract
