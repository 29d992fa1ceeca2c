// SPDX-License-Identifier: Apache-2.0
// Partners of a sendRecv that do not fit together: all ranks are told at once, in every way, and none
// waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/contract/ways.h"
#include "tests/contract/wrong_calls.h"

namespace popdist::contract {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

class SendRecv : public ::testing::TestWithParam<Way> {
 protected:
  /// The error of calls[rank] on each rank. Long before the deadline.
  static std::vector<Reported> reportsOf(const std::vector<Call>& calls) {
    const WayTaken taken(GetParam());
    std::vector<Reported> reports(calls.size());
    ThreadGroup group(
        GroupShape{.replicas_of_instance = std::vector<int>(calls.size(), 1), .timeout = kLongTimeout});
    const auto begin = Clock::now();
    group.run([&](Context& context) {
      const auto rank = static_cast<std::size_t>(context.world().rank());
      reports[rank] = reportOf([&] { calls[rank](context, context.world()); });
      context.fence();
    });
    EXPECT_LT(Clock::now() - begin, kInTime);
    return reports;
  }

  static void expectOnAll(const std::vector<Call>& calls, const char* words) {
    const std::vector<Reported> reports = reportsOf(calls);
    EXPECT_THAT(reports, Each(AllOf(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition)),
                                    Field(&Reported::what, HasSubstr(words)))))
        << reports.front().what;
  }
};

const Call kAlone = transferOf(0, kNobody, 0, kNobody);

TEST_P(SendRecv, WhoseReceiverExpectsAnotherSenderIsAnErrorOnAll) {
  expectOnAll({transferOf(5, 1, 0, kNobody), transferOf(0, kNobody, 5, 2), kAlone},
              "rank 0 sends 5 elements to rank 1, which expects 5 elements from rank 2");
}

TEST_P(SendRecv, WhoseReceiverExpectsAnotherCountIsAnErrorOnAll) {
  for (const std::size_t count : {1U, 1'000'000U}) {
    expectOnAll({transferOf(count, 1, 0, kNobody), transferOf(0, kNobody, count + 1, 0), kAlone},
                "to rank 1, which expects");
  }
}

TEST_P(SendRecv, ToWhoExpectsNothingIsAnErrorOnAll) {
  expectOnAll({transferOf(1, 1, 0, kNobody), kAlone, kAlone},
              "rank 0 sends 1 element to rank 1, which expects nothing");
}

TEST_P(SendRecv, FromWhoSendsNothingIsAnErrorOnAll) {
  expectOnAll({transferOf(0, kNobody, 3, 2), kAlone, kAlone},
              "rank 0 expects 3 elements from rank 2, which sends nothing");
}

TEST_P(SendRecv, FromItselfWithAnotherCountIsAnErrorOnAll) {
  expectOnAll({kAlone, transferOf(9, 1, 2, 1), kAlone},
              "rank 1 sends 9 elements to rank 1, which expects 2 elements from rank 1");
}

TEST_P(SendRecv, OfAnotherTypeIsAnErrorOnAll) {
  const std::vector<Reported> reports =
      reportsOf({transferOf(4, 1, 4, 1), transferOf(4, 0, 4, 0, Type::kInt32)});
  EXPECT_THAT(reports, Each(AllOf(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition)),
                                  Field(&Reported::what, HasSubstr("sendRecv (float)")),
                                  Field(&Reported::what, HasSubstr("sendRecv (int32)")))))
      << reports[0].what;
}

TEST_P(SendRecv, NamesTheOtherOfThePair) {
  const std::vector<Reported> reports = reportsOf({kAlone, transferOf(1, 2, 0, kNobody), kAlone});
  EXPECT_EQ(reports[0].peer, 1);
  EXPECT_EQ(reports[1].peer, 2);
  EXPECT_EQ(reports[2].peer, 1);
}

TEST_P(SendRecv, BesideAnotherOperationIsAnErrorOnAll) {
  const std::vector<Reported> reports = reportsOf({transferOf(4, 1, 4, 1), sumOf(30'000)});
  EXPECT_THAT(reports, Each(Field(&Reported::code, static_cast<int>(ErrorCode::kFailedPrecondition))));
}

std::string nameOfWay(const ::testing::TestParamInfo<Way>& tested) {
  return tested.param.name;
}

INSTANTIATE_TEST_SUITE_P(Ways, SendRecv, ::testing::ValuesIn(allWays()), nameOfWay);

}  // namespace
}  // namespace popdist::contract
