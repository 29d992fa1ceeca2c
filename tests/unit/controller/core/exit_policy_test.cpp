// SPDX-License-Identifier: Apache-2.0
#include "controller/core/exit_policy.h"

#include <gtest/gtest.h>

#include <csignal>

namespace pop {
namespace {

Failure failureOf(int instance, int exit_code) {
  return {.instance = instance, .exit_code = exit_code};
}

TEST(ExitPolicy, NothingNotedIsSuccess) {
  const ExitPolicy policy;
  EXPECT_FALSE(policy.decided());
  EXPECT_EQ(policy.outcome().exit_code, 0);
  EXPECT_FALSE(policy.outcome().failure);
}

TEST(ExitPolicy, TheFirstFailureDecides) {
  ExitPolicy policy;
  policy.noteFailure(failureOf(2, 7));
  policy.noteFailure(failureOf(0, 9));
  EXPECT_TRUE(policy.decided());
  EXPECT_EQ(policy.outcome().exit_code, 7);
  EXPECT_EQ(policy.outcome().failure->instance, 2);
}

TEST(ExitPolicy, TheUsersSignalOutranksEveryFailure) {
  ExitPolicy before;
  before.noteUserSignal(SIGINT);
  before.noteFailure(failureOf(0, 9));
  EXPECT_EQ(before.outcome().exit_code, 130);
  EXPECT_EQ(before.outcome().user_signal, SIGINT);
  EXPECT_FALSE(before.outcome().failure) << "what comes after the user's signal is its consequence";

  ExitPolicy after;
  after.noteFailure(failureOf(0, 9));
  after.noteUserSignal(SIGTERM);
  EXPECT_EQ(after.outcome().exit_code, 143);
}

TEST(ExitPolicy, TheFirstOfTheUsersSignalsDecides) {
  ExitPolicy policy;
  policy.noteUserSignal(SIGTERM);
  policy.noteUserSignal(SIGINT);
  EXPECT_EQ(policy.outcome().exit_code, 143);
  EXPECT_EQ(policy.outcome().user_signal, SIGTERM);
}

}  // namespace
}  // namespace pop
