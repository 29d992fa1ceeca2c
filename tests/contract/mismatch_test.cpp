// SPDX-License-Identifier: Apache-2.0
// Calls of one host's ranks that do not fit together: an error in time that names both calls, on all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/contract/mismatches.h"
#include "tests/contract/ways.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

// The error of calls[rank] on each rank. Long before the deadline.
std::vector<Reported> reportsOf(const std::vector<Call>& calls, int instances_per_host = 0) {
  std::vector<Reported> reports(calls.size());
  ThreadGroup group(GroupShape{.replicas_of_instance = std::vector<int>(calls.size(), 1),
                               .timeout = kLongTimeout,
                               .instances_per_host = instances_per_host});
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

class MismatchedCalls : public ::testing::TestWithParam<Way> {};

TEST_P(MismatchedCalls, AreNamedOnEveryRankUntilTheCommunicatorIsRebuilt) {
  const WayTaken taken(GetParam());
  GroupShape shape = shapeOf(GetParam(), 3);
  shape.timeout = kLongTimeout;
  shape.transport.call_timeout = kLongTimeout;  // all give up in the same call, however late they come to it
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    for (const Mismatch& mismatch : mismatches())
      EXPECT_EQ(runMismatch(context, mismatch, GetParam().compared), "");
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, MismatchedCalls, ::testing::ValuesIn(allWays()),
                         [](const auto& tested) { return tested.param.name; });

// One waits in its host's memory for a neighbour, who waits for another host's, who waits for the first one.
TEST(MismatchedCallsOverHosts, AreNamedWhereAnAlgorithmIsForced) {
  const WayTaken taken({.name = "", .environment = {{"POPDIST_MESSAGE_ALGORITHM", "ring"}}});
  const Call barrier = [](Context&, Communicator& world) { world.barrier(); };
  for (const Reported& report : reportsOf({sumOf(9), barrier, sumOf(9), sumOf(9)}, 2))
    EXPECT_THAT(report.what, AllOf(HasSubstr("does not match"), HasSubstr("sum of 9 int32")));
}

TEST(MismatchedTensors, AreNamed) {
  const Call weights = sumOf(3, Operator::kSum, Type::kInt32, "weights");
  const Call bias = sumOf(4, Operator::kSum, Type::kInt32, "bias");
  EXPECT_THAT(reportsOf({bias, weights, bias}),
              Each(Field(&Reported::what, AllOf(HasSubstr("'weights'"), HasSubstr("'bias'")))));
}

// The name is of this call, not of one before it.
TEST(MismatchedTensors, AreThoseOfThisCall) {
  const Call named = sumOf(50'000, Operator::kSum, Type::kInt32, "earlier");
  const Call empty = sumOf(1);
  const std::vector<Reported> reports =
      reportsOf({inTurn(inTurn(named, empty), sumOf(3)), inTurn(inTurn(named, empty), sumOf(4))});
  for (const Reported& report : reports) {
    EXPECT_THAT(report.what, HasSubstr("sum of 3 int32"));
    EXPECT_THAT(report.what, ::testing::Not(HasSubstr("earlier")));
  }
}

}  // namespace
}  // namespace popdist::contract
