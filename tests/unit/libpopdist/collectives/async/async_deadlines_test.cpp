// SPDX-License-Identifier: Apache-2.0
// How long asynchronous calls wait: each for its own time, and without a call nobody waits in vain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "tests/contract/closed_pages.h"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using testing::errorOf;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

constexpr milliseconds kSoon{300};
constexpr milliseconds kSoonEnough{2000};  // for a round or two before, on a busy machine

// In a call of one's own, while the thread of an AsyncCommunicator is in its round. In a thread of its own:
// the one that has made the communicators may still come to the others.
void waitInVain(Communicator& nobody_comes, milliseconds timeout) {
  std::thread([&] {
    const popdist_error error = errorOf([&] { nobody_comes.barrier({.timeout = timeout}); });
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded) << error.what();
  }).join();
}

/// Whether instances exchange messages alone.
class AsyncDeadlines : public ::testing::TestWithParam<bool> {
 protected:
  static GroupShape two() { return {.replicas_of_instance = {1, 1}, .transport = {.tcp_only = GetParam()}}; }
};

TEST_P(AsyncDeadlines, DoNotRunBeforeSomethingIsIssued) {
  ThreadGroup group(two());
  group.run([](Context& context) {
    auto communicator = context.createCommunicator({0, 1});
    const auto of_first = context.createCommunicator({0, 1});
    const auto of_second = context.createCommunicator({0, 1});
    context.setTimeout(kSoon);
    const bool is_late = context.instanceIndex() == 1;
    if (is_late) waitInVain(*of_second, 3 * kSoon);
    AsyncCommunicator members(std::move(communicator));
    if (!is_late) waitInVain(*of_first, 3 * kSoon);
    float value = 1;
    members.allReduce("sum", &value, &value, 1, Type::kFloat, Operator::kSum, milliseconds(20'000)).wait();
    EXPECT_EQ(value, 2);
  });
}

TEST_P(AsyncDeadlines, AreThoseOfTheCallThoughAnotherMayWaitLonger) {
  ThreadGroup group(two());
  std::latch over(1);
  group.run([&](Context& context) {
    auto communicator = context.createCommunicator({0, 1});
    const auto other = context.createCommunicator({0, 1});
    if (context.instanceIndex() == 1) return over.wait();
    AsyncCommunicator members(std::move(communicator));
    const Pending patient = members.barrier("patient");
    waitInVain(*other, kSoon);
    const auto begin = std::chrono::steady_clock::now();
    const popdist_error error = errorOf([&] { members.barrier("hasty", kSoon).wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "the other's are 20";
    over.count_down();
  });
}

TEST_P(AsyncDeadlines, EndTheWaitOfADestructorForOneThatNeverComes) {
  ThreadGroup group(two());
  std::latch over(1);
  group.run([&](Context& context) {
    auto communicator = context.createCommunicator({0, 1});
    if (context.instanceIndex() == 1) return over.wait();
    context.setTimeout(kSoon);
    AsyncCommunicator(std::move(communicator));
    over.count_down();
  });
}

using Values = std::vector<float>;

// Of two members the first has issued a call that may wait for `kSoonEnough`; the second issues it while it
// stands still in another one, longer than that, where it comes to `closed` of its values. None is late.
void issueWhileTheSecondStandsStill(Context& context, std::size_t count, std::size_t closed,
                                    const std::function<Pending(AsyncCommunicator&, Values&)>& issueSlow) {
  AsyncCommunicator members(context.createCommunicator({0, 1}));
  const auto of_first = context.createCommunicator({0, 1});
  const auto of_second = context.createCommunicator({0, 1});
  const bool is_first = context.instanceIndex() == 0;
  std::optional<Pending> hasty;
  if (is_first) hasty = members.barrier("hasty", kSoonEnough);
  members.barrier("behind which all know of it").wait();
  Values values(count);
  std::optional<contract::ClosedPages> pages;
  if (!is_first)
    pages.emplace(contract::ClosedPages::firstIn(values.data() + closed), contract::ClosedPages::kPageBytes);
  const Pending slow = issueSlow(members, values);
  waitInVain(is_first ? *of_first : *of_second, 3 * kSoonEnough);
  if (!is_first) {
    EXPECT_FALSE(slow.done());
    hasty = members.barrier("hasty", kSoonEnough);
    contract::ClosedPages::open();
  }
  slow.wait();
  hasty->wait();
  members.barrier("afterwards").wait();
}

// What another member issues meanwhile is heard of behind it: nobody is late before that.
TEST_P(AsyncDeadlines, StandStillWhileAnotherCallIsCarriedOut) {
  ThreadGroup group(two());
  // By messages so many are exchanged in halves, fewer in one piece.
  const std::size_t count = GetParam() ? 512 << 10 : 16 << 10;
  group.run([count](Context& context) {
    // In the half that the second member reduces: not sent by the system before.
    issueWhileTheSecondStandsStill(context, count, count / 2, [](AsyncCommunicator& members, Values& values) {
      return members.allReduce("slow", values.data(), values.data(), values.size(), Type::kFloat,
                               Operator::kSum);
    });
  });
}

// The root of a broadcast is done long before.
TEST(AsyncDeadlinesInMemory, StandStillWhileAnotherMemberIsAtWork) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 1}});
  group.run([](Context& context) {
    issueWhileTheSecondStandsStill(context, 4096, 0, [](AsyncCommunicator& members, Values& values) {
      return members.broadcast("slow", values.data(), values.size(), Type::kFloat, 0);
    });
  });
}

milliseconds processorTime() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return milliseconds(spent.tv_sec * 1000 + spent.tv_nsec / 1'000'000);
}

// Each would join every round of the other's, one after another.
TEST_P(AsyncDeadlines, AreWaitedForAtRestByMembersThatWaitForEachOther) {
  ThreadGroup group(two());
  group.run([](Context& context) {
    constexpr milliseconds kWindow{1000};
    AsyncCommunicator members(context.createCommunicator({0, 1}));
    const auto of_first = context.createCommunicator({0, 1});
    const auto of_second = context.createCommunicator({0, 1});
    const bool is_first = context.instanceIndex() == 0;
    const Pending own = members.barrier(is_first ? "of the first" : "of the second");
    context.world().barrier();
    const milliseconds before = processorTime();
    waitInVain(is_first ? *of_first : *of_second, kWindow);
    EXPECT_LT(processorTime() - before, kWindow / 2) << "of both members";
    const Pending other = members.barrier(is_first ? "of the second" : "of the first");
    own.wait();
    other.wait();
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, AsyncDeadlines, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "ByMessages" : "InMemory"; });

}  // namespace
}  // namespace popdist
