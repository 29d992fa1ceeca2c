// SPDX-License-Identifier: Apache-2.0
// Asynchronous collectives that cannot be carried out: everybody hears why, and nobody waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <optional>
#include <vector>

#include "common/sys/host_name.h"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using testing::errorOf;
using testing::everybody;
using ::testing::HasSubstr;
using testing::runMembers;
using testing::ThreadGroup;

constexpr std::chrono::milliseconds kBriefTimeout{1'000};

std::string named(int rank) {
  const std::string number = std::to_string(rank);
  return "rank " + number + " (instance " + number + " on " + pop::sys::hostName() + ")";
}

Pending sum(AsyncCommunicator& members, const std::string& name, std::vector<float>& data,
            AsyncCommunicator::Timeout timeout = {}) {
  return members.allReduce(name, data.data(), data.data(), data.size(), Type::kFloat, Operator::kSum,
                           timeout);
}

TEST(AsyncErrors, WrongArgumentsAreRefusedAtOnceAndHarmNobody) {
  ThreadGroup group(2);
  runMembers(group, [](AsyncCommunicator& members) {
    float value = 1;
    const auto refused = [&](const std::function<void()>& call, const char* why) {
      const popdist_error error = errorOf(call);
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(why));
    };
    const std::string wrong = "allReduce 'a' on " + named(members.rank()) + ": a buffer is a null pointer";
    refused([&] { members.allReduce("a", nullptr, &value, 1, Type::kFloat); }, wrong.c_str());
    refused([&] { members.broadcast("a", &value, 1, Type::kFloat, 2); }, "root 2");
    refused([&] { members.allReduce("", &value, &value, 1, Type::kFloat); }, "0 bytes");
    refused([&] { members.barrier(std::string(kMaxNameBytes + 1, 'x')); }, "4097 bytes");
    refused([&] { members.barrier("a", std::chrono::milliseconds(0)); }, "timeout");
    members.allReduce(std::string(kMaxNameBytes, 'x'), &value, &value, 1, Type::kFloat).wait();
    EXPECT_EQ(value, 2);
  });
}

TEST(AsyncErrors, AnOutsiderCannotMakeOne) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    auto communicator = context.createCommunicator({0});
    if (context.instanceIndex() == 0) return;
    EXPECT_EQ(errorOf([&] { AsyncCommunicator(std::move(communicator)); }).code(),
              ErrorCode::kInvalidArgument);
  });
}

TEST(AsyncErrors, ANameIsOneCallsUntilItIsDone) {
  ThreadGroup group(2);
  std::latch tried(1);
  runMembers(group, [&](AsyncCommunicator& members) {
    std::vector<float> data{1};
    std::vector<float> other{1};
    if (members.rank() == 1) tried.wait();
    const Pending first = sum(members, "grad", data);
    if (members.rank() == 0) {
      const popdist_error error = errorOf([&] { sum(members, "grad", other); });
      EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("'grad' on " + named(0)), HasSubstr("still pending")));
      tried.count_down();
    }
    first.wait();
    sum(members, "grad", other).wait();
    EXPECT_EQ(data[0], 2);
    EXPECT_EQ(other[0], 2);
  });
}

TEST(AsyncErrors, ANameThatMeansDifferentThingsIsAnErrorOnAllAndHarmsNoOther) {
  ThreadGroup group(3);
  runMembers(group, [](AsyncCommunicator& members) {
    std::vector<float> data(members.rank() == 1 ? 3 : 2, 1);
    std::vector<float> good{1};
    const Pending odd = sum(members, "odd", data);
    const Pending even = sum(members, "even", good);
    const popdist_error error = errorOf([&] { odd.wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_EQ(error.peer(), members.rank() == 1 ? 0 : 1);
    EXPECT_EQ(error.operation(), "allReduce");
    EXPECT_EQ(std::string(error.what()), "allReduce 'odd' on " + named(members.rank()) + ": " + named(1) +
                                             " does not match: it calls allReduce (sum of 3 float 'odd'), " +
                                             named(0) + " calls allReduce (sum of 2 float 'odd')");
    EXPECT_THAT(data, ::testing::Each(1));
    even.wait();
    EXPECT_EQ(good[0], 3);
    sum(members, "odd", good).wait();
    EXPECT_EQ(good[0], 9);
  });
}

TEST(AsyncErrors, OperatorsTypesAndRootsMustMatchToo) {
  ThreadGroup group(2);
  runMembers(group, [](AsyncCommunicator& members) {
    std::vector<float> data(2);
    const bool odd = members.rank() == 1;
    const Pending all[] = {
        members.allReduce("operator", data.data(), data.data(), 2, Type::kFloat,
                          odd ? Operator::kMax : Operator::kSum),
        members.allReduce("type", data.data(), data.data(), 2, odd ? Type::kInt32 : Type::kFloat),
        members.broadcast("root", data.data(), 2, Type::kFloat, odd ? 1 : 0),
        odd ? members.broadcast("operation", data.data(), 2, Type::kFloat, 0)
            : members.allReduce("operation", data.data(), data.data(), 2, Type::kFloat),
    };
    for (const Pending& each : all) {
      const popdist_error error = errorOf([&] { each.wait(); });
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
      EXPECT_THAT(error.what(), HasSubstr("does not match"));
    }
  });
}

TEST(AsyncErrors, CountsOfARaggedGatherMustMatchAndHarmNoOtherCall) {
  ThreadGroup group(2);
  runMembers(group, [](AsyncCommunicator& members) {
    const std::int32_t mine[2] = {1, 2};
    std::int32_t all[4] = {};
    const std::vector<std::size_t> counts{1, members.rank() == 0 ? std::size_t{1} : std::size_t{2}};
    const Pending gather = members.allGather("parts", mine, all, counts, Type::kInt32);
    const popdist_error error = errorOf([&] { gather.wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(error.what(),
                HasSubstr("allGather 'parts' on " + named(members.rank()) + ": " + named(1) + " does not"));
    EXPECT_THAT(error.what(), HasSubstr("per-rank counts"));
    members.barrier("after it").wait();
  });
}

TEST(AsyncErrors, ANameThatSomeDoNotIssueEndsWithTheirRanks) {
  ThreadGroup group(3);
  runMembers(group, [&](AsyncCommunicator& members) {
    std::vector<float> data{1};
    const bool has_it = members.rank() == 0;
    std::optional<Pending> pending;
    if (!has_it) pending = sum(members, "common", data);
    members.barrier("issued").wait();  // all have heard of "common" then, however long that takes
    if (has_it) pending = sum(members, "rare", data, kBriefTimeout);
    const popdist_error error = errorOf([&] { pending->wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded) << error.what();
    EXPECT_EQ(error.peer(), 1);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'rare' was not issued by " + named(1) +
                                              ", which waits for 'common', and " + named(2)),
                                    HasSubstr((has_it ? "allReduce 'rare' on " + named(0) + ": "
                                                      : "allReduce 'common' on " + named(members.rank()) +
                                                            ": " + named(0) + " aborted the communicator"))));
    const popdist_error after = errorOf([&] { members.barrier("after"); });
    EXPECT_EQ(after.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(after.peer(), 1);
    EXPECT_THAT(after.what(), AllOf(HasSubstr("the communicator has ended"), HasSubstr("'rare'")));
  });
}

// In the rounds of the other call everybody looks whose time is up.
TEST(AsyncErrors, NoTimeIsTooLongForACall) {
  ThreadGroup group(2);
  runMembers(group, [&](AsyncCommunicator& members) {
    std::vector<float> data{1};
    std::optional<Pending> patient;
    if (members.rank() == 0) patient = sum(members, "patient", data, std::chrono::milliseconds::max());
    members.barrier("other").wait();
    members.barrier("another", std::chrono::milliseconds::max()).wait();
    if (members.rank() == 1) patient = sum(members, "patient", data, std::chrono::milliseconds::max());
    patient->wait();
    EXPECT_EQ(data[0], 2);
  });
}

TEST(AsyncErrors, AMemberThatNeverMakesItsOwnIsNamed) {
  ThreadGroup group(2);
  std::latch failed(1);
  group.run([&](Context& context) {
    auto communicator = context.createCommunicator({0, 1});
    if (context.instanceIndex() == 1) return failed.wait();
    context.setTimeout(kBriefTimeout);
    AsyncCommunicator members(std::move(communicator));
    std::vector<float> data{1};
    const popdist_error error = errorOf([&] { sum(members, "alone", data).wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_EQ(error.peer(), 1);
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    failed.count_down();
  });
}

// Its thread is as still as that of a process that is gone: it has none.
TEST(AsyncErrors, TheEndOfAnInstanceEndsWhatWaitsForIt) {
  ThreadGroup group(3);
  std::latch waiting(2);
  group.run([&](Context& context) {
    auto communicator = context.createCommunicator({0, 1, 2});
    if (context.instanceIndex() == 2) {
      waiting.wait();
      return group.end(2, false, "instance 2 was killed by SIGKILL");
    }
    AsyncCommunicator members(std::move(communicator));
    std::vector<float> data{1};
    const Pending pending = sum(members, "grad", data);
    waiting.count_down();
    const auto begin = std::chrono::steady_clock::now();
    const popdist_error error = errorOf([&] { pending.wait(); });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(error.peer(), 2);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'grad'"), HasSubstr("instance 2 was killed by SIGKILL")));
    const popdist_error after = errorOf([&] { sum(members, "grad", data); });
    EXPECT_EQ(after.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(after.peer(), 2);
  });
}

TEST(AsyncErrors, CallsOfADestroyedCommunicatorEndOnAllMembers) {
  ThreadGroup group(3);
  group.run([](Context& context) {
    std::optional<AsyncCommunicator> members = everybody(context);
    std::vector<float> data{1};
    std::vector<float> common{1};
    const Pending pending = sum(*members, "of " + std::to_string(context.instanceIndex()), data);
    sum(*members, "common", common).wait();
    if (context.instanceIndex() == 0) members.reset();
    const popdist_error error = errorOf([&] { pending.wait(); });
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_EQ(error.peer(), 0);
    EXPECT_THAT(error.what(), HasSubstr(named(0) + " destroyed its AsyncCommunicator"));
    EXPECT_EQ(common[0], 3);
  });
}

TEST(AsyncErrors, AllMayGoAtOnceAndInAnyOrder) {
  for (int turn = 0; turn < 20; ++turn) {
    ThreadGroup group(3);
    runMembers(group, [](AsyncCommunicator& members) {
      std::vector<float> data{1};
      sum(members, "sum", data).wait();
      EXPECT_EQ(data[0], 3);
    });
  }
}

}  // namespace
}  // namespace popdist
