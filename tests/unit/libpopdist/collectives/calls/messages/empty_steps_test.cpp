// SPDX-License-Identifier: Apache-2.0
// Steps of no elements are messages in the calls that say so, and in no others.
#include <gtest/gtest.h>

#include "libpopdist/collectives/calls/messages/message_calls.h"
#include "libpopdist/collectives/messages/exec/rank_progress.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::exec {
namespace {

using calls::messageCallOf;
using plan::Operation;

// Whether a rank with nothing but such a step, and no connection at all, is done before it begins.
bool isNoMessage(bool sends_empty, const plan::Step& step) {
  const plan::Plan plan{.steps = {step}};
  const Call call{.count = 1, .sends_empty = sends_empty};
  const Waiting waiting;
  return RankProgress(call, {.plan = &plan}, waiting).done();
}

TEST(EmptySteps, AreMessagesWhereTheCallSaysSo) {
  for (const plan::Step& step : {plan::sendStep(0, 1, {}, 0), plan::recvStep(0, 1, {}, 0),
                                 plan::recvReduceStep(0, 1, {}, {}, 0, {})}) {
    EXPECT_TRUE(isNoMessage(false, step));
    EXPECT_FALSE(isNoMessage(true, step));
  }
  EXPECT_TRUE(isNoMessage(true, plan::copyStep(0, {}, {}, 0)));
}

TEST(EmptySteps, AreMessagesInCallsOfNothing) {
  for (int number = 0; number < static_cast<int>(Operation::kSendRecv); ++number) {
    const auto operation = static_cast<Operation>(number);
    EXPECT_TRUE(messageCallOf({.operation = operation, .count = 0}).sends_empty) << nameOf(operation);
    EXPECT_FALSE(messageCallOf({.operation = operation, .count = 1}).sends_empty) << nameOf(operation);
  }
}

// What they mean is compared before.
TEST(EmptySteps, AreNoMessagesWherePartnersHaveToldEachOther) {
  EXPECT_FALSE(messageCallOf({.operation = Operation::kSendRecv}).sends_empty);
  EXPECT_FALSE(messageCallOf({.operation = Operation::kAllToAll, .ragged = true}).sends_empty);
  EXPECT_TRUE(messageCallOf({.operation = Operation::kAllGather, .ragged = true}).sends_empty);
}

}  // namespace
}  // namespace popdist::exec
