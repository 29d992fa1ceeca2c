// SPDX-License-Identifier: Apache-2.0
// Instances that exit with code 0 although others count on them: these hear of it long before their timeouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(PeerThatLeft, IsNamedInACollective) {
  const Outcome outcome = run(childSetup(2, {"leave", "1"}));
  EXPECT_EQ(outcome.exit_code, kUnavailableCode) << "the program's own";
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  ASSERT_TRUE(errors.contains(0)) << outcome.out;
  EXPECT_EQ(errors.at(0).code, kUnavailableCode);
  EXPECT_EQ(errors.at(0).peer, 1);
  EXPECT_THAT(errors.at(0).what, HasSubstr("instance 1 "));
  EXPECT_THAT(errors.at(0).what, HasSubstr("exited with code 0 without taking part"));
  EXPECT_THAT(outcome.err,
              ContainsRegex("poprun: instance 1 of .* exited with code 0 although instance 0 .* needed it, "
                            "which exited with code 14"));
}

TEST(PeerThatLeft, IsNamedByWhoeverFailsFirst) {
  const Outcome outcome = run(childSetup(5, {"leave", "3"}));
  EXPECT_EQ(outcome.exit_code, kUnavailableCode);
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  // Some may have been stopped before they saw an error.
  ASSERT_FALSE(errors.empty()) << outcome.out;
  for (const auto& [instance, error] : errors) EXPECT_EQ(error.peer, 3) << instance;
  EXPECT_FALSE(errors.contains(3));
  EXPECT_THAT(outcome.err, ContainsRegex("poprun: instance 3 of .* exited with code 0 although instance "));
}

TEST(PeerThatLeft, WithoutEverConnectingIsNamedByTheOnlyOneThatDoes) {
  const Outcome outcome = run(childSetup(3, {"connect", "1"}));
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  ASSERT_EQ(errors.size(), 1U) << outcome.out;
  EXPECT_EQ(outcome.exit_code, kUnavailableCode);
  EXPECT_EQ(errors.at(1).code, kUnavailableCode);
  EXPECT_TRUE(errors.at(1).peer == 0 || errors.at(1).peer == 2) << errors.at(1).peer;
  EXPECT_THAT(errors.at(1).what, HasSubstr("instance " + std::to_string(errors.at(1).peer) + ' '));
  EXPECT_THAT(errors.at(1).what, HasSubstr("exited with code 0"));
}

}  // namespace
}  // namespace pop::testing
