// SPDX-License-Identifier: Apache-2.0
// Ranks that do not make the same call get an error that describes both sides, never garbage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"

namespace popdist::exec {
namespace {

using plan::Operation;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMostElements = 4096;

const Request kSum{
    .operation = Operation::kAllReduce, .type = Type::kFloat, .count = 1000, .tensor = "weights"};

// Each of two ranks makes its own call.
std::array<Failure, 2> callBoth(const Request& first, const Request& second) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  std::array<Failure, 2> failures;
  testing::runThreads(2, [&](int rank) {
    std::vector<double> input(2 * kMostElements);
    std::vector<double> output(2 * kMostElements);
    failures[static_cast<std::size_t>(rank)] =
        call(world, rank == 0 ? first : second, {{rank, input.data(), output.data()}});
  });
  return failures;
}

template <typename Matcher>
void expectBothRefuse(const std::array<Failure, 2>& failures, const Matcher& message) {
  for (int rank = 0; rank < 2; ++rank) {
    const pop::Status& status = failures[static_cast<std::size_t>(rank)].status;
    EXPECT_EQ(status.code(), pop::Code::kFailedPrecondition) << status.message();
    EXPECT_EQ(failures[static_cast<std::size_t>(rank)].peer_rank, 1 - rank);
    EXPECT_THAT(status.message(), AllOf(message, HasSubstr("rank " + std::to_string(1 - rank))))
        << "on rank " << rank;
  }
}

TEST(Mismatch, OfCountsNamesBoth) {
  Request other = kSum;
  other.count = 1001;
  expectBothRefuse(callBoth(kSum, other),
                   AllOf(HasSubstr("sum of 1000 float"), HasSubstr("sum of 1001 float")));
}

// The blocks that are sent have the same size: only what the callers said differs.
TEST(Mismatch, OfCountsIsFoundWhenMessagesHaveTheSameLength) {
  Request one = kSum;
  one.operation = Operation::kAllToAll;
  one.count = 3;
  Request other = one;
  other.count = 4;
  expectBothRefuse(callBoth(one, other),
                   AllOf(HasSubstr("allToAll (3 float"), HasSubstr("allToAll (4 float")));
}

TEST(Mismatch, OfTypesNamesBoth) {
  Request other = kSum;
  other.type = Type::kInt32;
  expectBothRefuse(callBoth(kSum, other), AllOf(HasSubstr("1000 float"), HasSubstr("1000 int32")));
}

TEST(Mismatch, OfOperationsNamesBothAndTheirTensors) {
  Request other = kSum;
  other.operation = Operation::kAllToAll;
  other.tensor = "bias";
  expectBothRefuse(callBoth(kSum, other), AllOf(HasSubstr("allReduce (sum of 1000 float 'weights')"),
                                                HasSubstr("allToAll (1000 float 'bias')")));
}

// A tensor is named for people: ranks may call the same one by other names.
TEST(Mismatch, IsNotWhereTensorsHaveOtherNames) {
  Request other = kSum;
  other.tensor = "weights of layer 3, as rank 1 calls them";
  for (const Failure& failure : callBoth(kSum, other))
    EXPECT_TRUE(failure.status.ok()) << failure.status.message();
}

TEST(Mismatch, NamesNoMoreOfATensorThanTravels) {
  Request other = kSum;
  other.count = 999;
  other.tensor = "weights of layer 3";
  EXPECT_THAT(callBoth(kSum, other)[0].status.message(), HasSubstr("999 float 'weights of layer')"));
}

// Rank 3 gets its data from rank 2, whether that is the root or has it from rank 0.
TEST(Mismatch, OfRootsNamesBoth) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(4);
  testing::runThreads(4, [&](int rank) {
    float value = 0;
    const Request broadcast{.operation = Operation::kBroadcast,
                            .type = Type::kFloat,
                            .root = rank == 3 ? 2 : 0,
                            .timeout = std::chrono::seconds(5)};
    const Failure failure = call(world, broadcast, {{rank, nullptr, &value}});
    if (rank != 3) return;
    EXPECT_EQ(failure.status.code(), pop::Code::kFailedPrecondition);
    EXPECT_THAT(failure.status.message(), AllOf(HasSubstr("it calls broadcast (1 float, root 0)"),
                                                HasSubstr("rank 3 calls broadcast (1 float, root 2)")));
    EXPECT_EQ(failure.peer_rank, 2);
  });
}

TEST(Mismatch, OfTheNumberOfCallsNamesBoth) {
  Request one = kSum;
  one.sequence = 7;
  Request other = kSum;
  other.sequence = 9;
  const std::array<Failure, 2> failures = callBoth(one, other);
  EXPECT_EQ(failures[0].status.code(), pop::Code::kFailedPrecondition);
  EXPECT_THAT(failures[0].status.message(),
              AllOf(HasSubstr("as call 10, rank 0 calls"), HasSubstr("as call 8")));
  EXPECT_EQ(failures[1].status.code(), pop::Code::kFailedPrecondition);
  EXPECT_THAT(failures[1].status.message(),
              AllOf(HasSubstr("as call 8, rank 1 calls"), HasSubstr("as call 10")));
}

TEST(Mismatch, DoesNotTouchTheOutput) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  testing::runThreads(2, [&](int rank) {
    std::vector<float> own(100, 5.0F);
    std::vector<float> all(300, -1.0F);
    const Request gather{.operation = Operation::kAllGather,
                         .type = Type::kFloat,
                         .count = static_cast<std::size_t>(rank == 0 ? 100 : 99)};
    const Failure failure = call(world, gather, {{rank, own.data(), all.data()}});
    EXPECT_EQ(failure.status.code(), pop::Code::kFailedPrecondition);
    const std::size_t others_block = rank == 0 ? 100 : 0;
    for (std::size_t i = 0; i < 99; ++i) EXPECT_EQ(all[others_block + i], -1.0F);
  });
}

}  // namespace
}  // namespace popdist::exec
