// SPDX-License-Identifier: Apache-2.0
// Waits for calls that were issued: with a limit, and for any of several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using testing::errorOf;
using testing::MembersShape;
using testing::runMembers;
using testing::ThreadGroup;

TEST(WaitFor, EndsAtItsLimitOrWhenTheCallIsDone) {
  ThreadGroup group(MembersShape{2}.group());
  std::latch waited(1);
  runMembers(group, [&](AsyncCommunicator& members) {
    if (members.rank() == 1) waited.wait();
    const Pending call = members.barrier("late");
    if (members.rank() == 0) {
      EXPECT_FALSE(call.waitFor(milliseconds(0)));
      EXPECT_FALSE(call.waitFor(milliseconds(30)));
      EXPECT_FALSE(call.done());
      waited.count_down();
    }
    EXPECT_TRUE(call.waitFor(milliseconds(20'000)));
    EXPECT_TRUE(call.done());
  });
}

TEST(WaitFor, ThrowsTheErrorOfACall) {
  ThreadGroup group(MembersShape{2}.group());
  runMembers(group, [](AsyncCommunicator& members) {
    std::vector<float> data(static_cast<std::size_t>(members.rank()) + 1);
    const Pending call = members.allReduce("sum", data.data(), data.data(), data.size(), Type::kFloat);
    const popdist_error error = errorOf([&] { static_cast<void>(call.waitFor(milliseconds(20'000))); });
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition) << error.what();
  });
}

TEST(WaitAny, ReturnsTheFirstThatIsDone) {
  ThreadGroup group(MembersShape{2}.group());
  std::latch found(1);
  runMembers(group, [&](AsyncCommunicator& members) {
    std::vector<Pending> calls;
    if (members.rank() == 0) {
      for (const char* name : {"a", "b", "c"}) calls.push_back(members.barrier(name));
      EXPECT_EQ(waitAny(calls, milliseconds(20'000)), std::optional<std::size_t>(1));
      found.count_down();
    } else {
      calls.push_back(members.barrier("b"));
      found.wait();
      for (const char* name : {"a", "c"}) calls.push_back(members.barrier(name));
    }
    for (const Pending& call : calls) call.wait();
    EXPECT_EQ(waitAny(calls, milliseconds(0)), std::optional<std::size_t>(0));
  });
}

TEST(WaitAny, EndsAtItsLimit) {
  ThreadGroup group(MembersShape{2}.group());
  std::latch waited(1);
  runMembers(group, [&](AsyncCommunicator& members) {
    EXPECT_EQ(waitAny({}, milliseconds(20'000)), std::nullopt);
    if (members.rank() == 1) waited.wait();
    const std::vector<Pending> calls{members.barrier("late")};
    if (members.rank() == 0) {
      EXPECT_EQ(waitAny(calls, milliseconds(0)), std::nullopt);
      EXPECT_EQ(waitAny(calls, milliseconds(30)), std::nullopt);
      waited.count_down();
    }
    calls.front().wait();
  });
}

}  // namespace
}  // namespace popdist
