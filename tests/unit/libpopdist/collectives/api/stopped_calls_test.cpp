// SPDX-License-Identifier: Apache-2.0
// Calls whose wait the caller ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using testing::errorOf;
using testing::MembersShape;
using testing::ThreadGroup;

// Ranks are 0 and 1, or one on each of two hosts.
class StoppedCalls : public ::testing::TestWithParam<MembersShape> {
 protected:
  // Rank 0 waits in a barrier until `stop` is called, and rank 1 comes later: both hear of it.
  static void expectCancelled(const std::function<CallOptions(Context&)>& options,
                              const std::function<void()>& stop, const std::string& why) {
    ThreadGroup group(GetParam().group());
    std::latch has_failed(1);
    std::latch has_heard(1);
    group.run([&](Context& context) {
      Communicator& world = context.world();
      world.barrier();  // over a network, a member hears of failures over connections that are there
      if (world.rank() == 0) {
        const CallOptions of_call = options(context);
        std::jthread stopper(stop);
        const popdist_error error = errorOf([&] { world.barrier(of_call); });
        EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
        EXPECT_THAT(error.what(), ::testing::HasSubstr(why));
        has_failed.count_down();
        const popdist_error after = errorOf([&] { world.barrier(); });
        EXPECT_EQ(after.code(), ErrorCode::kFailedPrecondition) << after.what();
        has_heard.wait();
      } else if (world.rank() == 1) {
        has_failed.wait();
        const popdist_error error = errorOf([&] {
          world.barrier();
          world.barrier();  // it may have been the last to enter
        });
        EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
        has_heard.count_down();
        EXPECT_EQ(error.peer(), 0);
        EXPECT_THAT(error.what(), ::testing::HasSubstr(why));
      }
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Members, StoppedCalls,
                         ::testing::Values(MembersShape{2}, MembersShape{2, true}, MembersShape{2, false, 1}),
                         testing::nameOfShape);

TEST_P(StoppedCalls, EndByTheirStopToken) {
  std::stop_source source;
  expectCancelled([&](Context&) { return CallOptions{.stop = source.get_token()}; },
                  [&] { source.request_stop(); }, "its caller has asked to stop");
}

std::atomic<bool> is_interrupted{false};

TEST_P(StoppedCalls, EndByTheInterruptCheck) {
  is_interrupted = false;
  expectCancelled(
      [](Context& context) {
        context.setInterruptCheck([] { return is_interrupted.load(); });
        return CallOptions{};
      },
      [] { is_interrupted = true; }, "its caller was interrupted");
}

TEST_P(StoppedCalls, WithShortTimeoutsEndToo) {
  std::stop_source source;
  expectCancelled(
      [&](Context&) { return CallOptions{.timeout = milliseconds(4'000), .stop = source.get_token()}; },
      [&] { source.request_stop(); }, "its caller has asked to stop");
}

TEST(StoppedCall, MaySucceedWhereNobodyWaits) {
  ThreadGroup group(2);
  std::stop_source source;
  source.request_stop();
  group.run([&](Context& context) {
    std::vector<float> data(1, 1.0F);
    for (int call = 0; call < 100; ++call) context.world().allReduce(data);
    const popdist_error error =
        errorOf([&] { context.world().allReduce(data, Operator::kSum, {.stop = source.get_token()}); });
    EXPECT_TRUE(error.code() == ErrorCode::kUnknown || error.code() == ErrorCode::kCancelled) << error.what();
  });
}

}  // namespace
}  // namespace popdist
