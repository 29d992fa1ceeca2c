// SPDX-License-Identifier: Apache-2.0
// Members that end while others wait for them, seen through a communicator and the real end notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <chrono>
#include <latch>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "common/sys/host_name.h"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr const char* kKilled = "instance 2 (pid 712) was killed by SIGKILL";

// What `call` throws; a call that succeeds is a failure of the test.
template <typename Call>
std::optional<popdist_error> lossOf(const Call& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return error;
  }
  ADD_FAILURE() << "the call has succeeded";
  return std::nullopt;
}

template <typename Call>
void expectLoss(const Call& call, int peer, const char* text) {
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<popdist_error> error = lossOf(call);
  if (!error) return;
  EXPECT_EQ(error->code(), ErrorCode::kUnavailable) << error->what();
  EXPECT_EQ(error->peer(), peer);
  EXPECT_THAT(error->what(), HasSubstr(text));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

void sumOfOne(Communicator& communicator) {
  std::vector<float> data(1000, 1.0F);
  communicator.allReduceSum(std::span(data));
}

void broadcastFrom(Communicator& communicator, int root, std::size_t count = 1000) {
  std::vector<std::int32_t> data(count, -1);
  if (communicator.rank() == root) std::iota(data.begin(), data.end(), 0);
  communicator.broadcast(std::span(data), root);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], static_cast<std::int32_t>(i));
}

TEST(PeerLoss, OfACrashedMemberEndsTheCallsOfAllOthers) {
  ThreadGroup group(5);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) return group.end(2, false, kKilled);
    expectLoss([&] { sumOfOne(context.world()); }, 2, kKilled);
  });
}

TEST(PeerLoss, IsFoundByWhoeverWaitsAlready) {
  ThreadGroup group(4);
  std::latch waiting(3);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) {
      waiting.wait();
      return group.end(2, false, kKilled);
    }
    waiting.count_down();
    expectLoss([&] { sumOfOne(context.world()); }, 2, kKilled);
  });
}

TEST(PeerLoss, TellsWhereItHappened) {
  ThreadGroup group(3);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) return group.end(2, false, kKilled);
    const auto error = lossOf([&] { sumOfOne(context.world()); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rank(), context.instanceIndex());
    EXPECT_EQ(error->operation(), "allReduce");
    const std::string own = std::to_string(context.instanceIndex());
    EXPECT_EQ(std::string(error->what()), "allReduce (sum of 1000 float) on rank " + own + " (instance " +
                                              own + " on " + pop::sys::hostName() +
                                              "): rank 2 (instance 2 on " + pop::sys::hostName() +
                                              ") is lost: " + kKilled);
  });
}

// In a communicator of some instances, rank and instance are two things.
TEST(PeerLoss, NamesTheInstanceNotTheRank) {
  ThreadGroup group(4);
  group.run([&](Context& context) {
    const auto some = context.createCommunicator({1, 2, 3});
    if (context.instanceIndex() == 2) return group.end(2, false, kKilled);
    if (some == nullptr) return;
    expectLoss([&] { sumOfOne(*some); }, 2, kKilled);
  });
}

TEST(PeerLoss, OfACrashedMemberCountsEvenIfItIsNotAwaited) {
  ThreadGroup group(3);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) return group.end(2, false, kKilled);
    // Rank 1 waits for rank 0 alone, which does not come.
    if (context.instanceIndex() == 1) expectLoss([&] { broadcastFrom(context.world(), 0); }, 2, kKilled);
  });
}

// By messages: in shared memory everybody awaits everybody.
TEST(PeerLoss, OfAMemberThatLeftCleanlyCountsOnlyIfItIsAwaited) {
  ::setenv("POPDIST_SHARED_ALGORITHM", "messages", 1);
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1, 1}, .timeout = milliseconds(60)});
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) return group.end(2, true, "instance 2 exited with code 0");
    if (context.instanceIndex() == 0) return;
    // Rank 1 waits for rank 0 alone, which does not come.
    const auto error = lossOf([&] { broadcastFrom(context.world(), 0); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::kDeadlineExceeded) << error->what();
  });
  ::unsetenv("POPDIST_SHARED_ALGORITHM");
}

TEST(PeerLoss, OfAMemberThatLeftCleanlyEndsTheCallOfWhoeverAwaitsIt) {
  ThreadGroup group(3);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) return group.end(2, true, "instance 2 exited with code 0");
    if (context.instanceIndex() == 0) return;
    expectLoss([&] { broadcastFrom(context.world(), 2); }, 2,
               "instance 2 exited with code 0 without taking part");
  });
}

TEST(PeerLoss, OfSomebodyElseDoesNotDisturb) {
  ThreadGroup group(4);
  std::latch ended(1);
  group.run([&](Context& context) {
    const auto some = context.createCommunicator({0, 1, 3});
    if (context.instanceIndex() == 2) {
      group.end(2, false, kKilled);
      return ended.count_down();
    }
    ended.wait();
    for (int turn = 0; turn < 50; ++turn) sumOfOne(*some);
    broadcastFrom(*some, 1, 200'000);
  });
}

TEST(PeerLoss, DoesNotUndoWhatWasSentBefore) {
  for (const bool clean : {true, false}) {
    ThreadGroup group(2);
    std::latch ended(1);
    group.run([&](Context& context) {
      if (context.instanceIndex() == 0) {
        broadcastFrom(context.world(), 0);
        broadcastFrom(context.world(), 0);
        group.end(0, clean, "instance 0 has ended");
        return ended.count_down();
      }
      broadcastFrom(context.world(), 0);
      broadcastFrom(context.world(), 0);
      ended.wait();
      expectLoss([&] { broadcastFrom(context.world(), 0); }, 0, "instance 0 has ended");
    });
  }
}

// The receiver may be anywhere when the last bytes and the end notice arrive.
TEST(PeerLoss, DoesNotOvertakeWhatWasSentBefore) {
  for (int run = 0; run < 60; ++run) {
    ThreadGroup group(2);
    group.run([&](Context& context) {
      broadcastFrom(context.world(), 0, static_cast<std::size_t>(1 + run * 3000));
      if (context.instanceIndex() == 0) group.end(0, false, "instance 0 has ended");
    });
    if (::testing::Test::HasFailure()) FAIL() << "in run " << run;
  }
}

TEST(PeerLoss, LeavesACommunicatorThatRefusesFurtherCalls) {
  ThreadGroup group(3);
  group.run([&](Context& context) {
    const auto others = context.createCommunicator({0, 1});
    if (context.instanceIndex() == 2) return group.end(2, false, kKilled);
    expectLoss([&] { sumOfOne(context.world()); }, 2, kKilled);
    const auto again = lossOf([&] { context.world().synchronize(); });
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(again->what(), HasSubstr("an earlier call on this communicator failed"));
    EXPECT_THAT(again->what(), HasSubstr(kKilled));
    sumOfOne(*others);  // another communicator, without the lost one, goes on
  });
}

TEST(PeerLoss, EndsAFenceToo) {
  ThreadGroup group(3);
  std::latch entering(2);
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) {
      entering.wait();
      return group.end(2, false, kKilled);
    }
    entering.count_down();
    expectLoss([&] { context.fence(); }, 2, kKilled);
  });
}

TEST(ThreadGroup, MakesAnExceptionTheEndOfItsInstance) {
  ThreadGroup group(3);
  std::string seen;
  try {
    group.run([&](Context& context) {
      if (context.instanceIndex() == 1) throw std::runtime_error("I give up");
      if (context.instanceIndex() == 0) expectLoss([&] { sumOfOne(context.world()); }, 1, "I give up");
    });
  } catch (const std::runtime_error& error) {
    seen = error.what();
  }
  EXPECT_EQ(seen, "I give up");
}

}  // namespace
}  // namespace popdist
