// SPDX-License-Identifier: Apache-2.0
// What ranks of a host are told when their calls do not fit together: an error in time that names both calls,
// on all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <string>
#include <vector>

#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

// What calls[rank] throws on each rank. Long before the deadline.
std::vector<Reported> reportsOf(const std::vector<Call>& calls) {
  std::vector<Reported> reports(calls.size());
  ThreadGroup group(
      GroupShape{.replicas_of_instance = std::vector<int>(calls.size(), 1), .timeout = kLongTimeout});
  const auto begin = Clock::now();
  group.run([&](Context& context) {
    const auto rank = static_cast<std::size_t>(context.world().rank());
    reports[rank] = reportOf([&] { calls[rank](context, context.world()); });
    EXPECT_EQ(reportOf([&] { context.world().synchronize(); }).code,
              static_cast<int>(ErrorCode::kFailedPrecondition))
        << "the communicator must be of no use after: " << reports[rank].what;
  });
  EXPECT_LT(Clock::now() - begin, kInTime);
  return reports;
}

struct Mismatch {
  const char* what;
  Call odd;    // of rank 1
  Call other;  // of all others
  const char* odd_words;
  const char* other_words;
};

const std::vector<Mismatch>& mismatches() {
  static const std::vector<Mismatch> all{
      {"count", sumOf(3), sumOf(4), "sum of 3 int32", "sum of 4 int32"},
      {"count of more", sumOf(3), sumOf(40'000), "sum of 3 int32", "sum of 40000 int32"},
      {"large count", sumOf(1'000'000), sumOf(1'000'001), "1000000 int32", "1000001 int32"},
      {"type", sumOf(3, Operator::kSum, Type::kInt64), sumOf(3), "3 int64", "3 int32"},
      {"operator", sumOf(3000, Operator::kMax), sumOf(3000), "max of 3000", "sum of 3000"},
      {"operation", broadcastOf(3, 0), sumOf(3), "broadcast (3 float, root 0)", "allReduce (sum of 3 int32)"},
      {"root", broadcastOf(50'000, 1), broadcastOf(50'000, 0), "root 1", "root 0"},
      {"order", inTurn(sumOf(3), broadcastOf(5, 0)), inTurn(broadcastOf(5, 0), sumOf(3)),
       "broadcast (5 float", "allReduce (sum of 3"},
      {"memory and count", sumOf(70'000), sharedSumOf(70'001), "70000 int32", "70001 float"},
      {"count in shared memory", sharedSumOf(70'000), sharedSumOf(70'001), "70000 float", "70001 float"},
      {"counts of each", gatherOf({1, 2, 3}), gatherOf({1, 2, 4}), "allGather (counts of each rank float)",
       "allGather (counts of each rank float)"},
      {"tensor", sumOf(3, Operator::kSum, Type::kInt32, "weights"),
       sumOf(4, Operator::kSum, Type::kInt32, "bias"), "'weights'", "'bias'"},
      {"a barrier", [](Context&, Communicator& world) { world.barrier(); }, sumOf(100'000), "synchronize",
       "sum of 100000"},
  };
  return all;
}

TEST(MismatchedCalls, AreNamedOnEveryRank) {
  for (const Mismatch& mismatch : mismatches()) {
    const std::vector<Reported> reports = reportsOf({mismatch.other, mismatch.odd, mismatch.other});
    EXPECT_THAT(reports, Each(AllOf(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition)),
                                    Field(&Reported::what, HasSubstr(mismatch.odd_words)),
                                    Field(&Reported::what, HasSubstr(mismatch.other_words)))))
        << mismatch.what << ": " << reports[0].what << " / " << reports[1].what << " / " << reports[2].what;
  }
}

// The name is of this call, not of one before it.
TEST(MismatchedCalls, AreNamedWithTheirOwnTensor) {
  const Call named = sumOf(50'000, Operator::kSum, Type::kInt32, "earlier");
  const Call empty = sumOf(1);
  const std::vector<Reported> reports =
      reportsOf({inTurn(inTurn(named, empty), sumOf(3)), inTurn(inTurn(named, empty), sumOf(4))});
  for (const Reported& report : reports) {
    EXPECT_THAT(report.what, HasSubstr("sum of 3 int32"));
    EXPECT_THAT(report.what, ::testing::Not(HasSubstr("earlier")));
  }
}

TEST(MismatchedCalls, OfAnExchangeWhoseCountsContradictAreNamedOnEveryRank) {
  const Call fits = exchangeOf({5, 5, 5}, {5, 5, 5});
  const std::vector<Reported> reports = reportsOf({fits, exchangeOf({5, 5, 5}, {7, 5, 5}), fits});
  EXPECT_THAT(reports, Each(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition))));
  EXPECT_THAT(reports[1].what, HasSubstr("rank 0 does not match: it sends 5 elements to this rank, which "
                                         "expects 7"));
  EXPECT_THAT(reports[2].what, AllOf(HasSubstr("rank 1 has given up"), HasSubstr("sends 5 elements")));
}

// Rank 0 and rank 1 agree on all that goes between them.
TEST(MismatchedCalls, OfAGatherWithOtherCountsAreErrorsByMessagesToo) {
  ::setenv("POPDIST_SHARED_ALGORITHM", "messages", 1);
  const std::vector<Reported> reports =
      reportsOf({gatherOf({1, 2, 3}), gatherOf({1, 2, 4}), gatherOf({1, 2, 3})});
  ::unsetenv("POPDIST_SHARED_ALGORITHM");
  EXPECT_THAT(reports, Each(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition))));
}

}  // namespace
}  // namespace popdist::contract
