// SPDX-License-Identifier: Apache-2.0
// A rank that does not come: the others wait until the deadline, and say for whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"

namespace popdist::exec {
namespace {

using plan::Operation;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kCallTimeout{40};
constexpr milliseconds kTestLimit{20'000};

struct Waited {
  Failure failure;
  milliseconds time{0};
};

Waited callAlone(transport::ShmWorld& world, Request request, int rank) {
  request.timeout = kCallTimeout;
  std::vector<double> input(100'000);
  std::vector<double> output(100'000);
  const auto begin = Clock::now();
  Failure failure = call(world, request, {{rank, input.data(), output.data()}});
  return {std::move(failure), std::chrono::duration_cast<milliseconds>(Clock::now() - begin)};
}

void expectDeadline(const Waited& waited, const std::string& who) {
  EXPECT_EQ(waited.failure.status.code(), pop::Code::kDeadlineExceeded);
  EXPECT_THAT(waited.failure.status.message(), AllOf(HasSubstr("waiting for " + who + ": "),
                                                     HasSubstr("(to wait longer: Context::setTimeout")));
  EXPECT_GE(waited.time, kCallTimeout);
  EXPECT_LT(waited.time, kTestLimit);
}

TEST(Deadline, NamesTheRankThatHasNotComeToSend) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  const Request broadcast{.operation = Operation::kBroadcast, .type = Type::kFloat, .count = 10, .root = 1};
  expectDeadline(callAlone(world, broadcast, 0), "rank 1");
}

TEST(Deadline, NamesTheRankThatHasNotComeToReceive) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  const Request broadcast{
      .operation = Operation::kBroadcast, .type = Type::kDouble, .count = 100'000, .root = 0};
  expectDeadline(callAlone(world, broadcast, 0), "rank 1");
}

TEST(Deadline, NamesAllRanksThatAreWaitedFor) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(4);
  const Request sum{.operation = Operation::kAllReduce, .type = Type::kDouble, .count = 100'000};
  // To 2 the whole block fits; from 0 nothing comes.
  expectDeadline(callAlone(world, sum, 1), "rank 0");
  transport::ShmWorld narrow = transport::ShmWorld::oneRankEach(3);
  expectDeadline(callAlone(narrow, sum, 1), "rank 0, rank 2");
}

TEST(Deadline, NamesTheMissingOneAmongThree) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(3);
  std::array<Waited, 2> waited;
  testing::runThreads(2, [&](int rank) {
    const Request gather{.operation = Operation::kAllGather, .type = Type::kFloat, .count = 10};
    waited[static_cast<std::size_t>(rank)] = callAlone(world, gather, rank);
  });
  expectDeadline(waited[0], "rank 2");
  EXPECT_EQ(waited[1].failure.status.code(), pop::Code::kDeadlineExceeded);
}

TEST(Deadline, ThatHasPassedDoesNotSpoilACallThatNeedsNobody) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(1);
  float value = 3.0F;
  const Request sum{.operation = Operation::kAllReduce, .type = Type::kFloat, .timeout = milliseconds(-1)};
  EXPECT_TRUE(call(world, sum, {{0, &value, &value}}).status.ok());
}

}  // namespace
}  // namespace popdist::exec
