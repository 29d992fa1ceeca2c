// SPDX-License-Identifier: Apache-2.0
// Errors of each backend when calls do not match and when an instance does not come. More of it:
// tests/contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/backends_of_build.h"
#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class BackendError : public ::testing::TestWithParam<std::string> {
 protected:
  static PoprunSetup setupOf(const std::vector<std::string>& command, int instances = 3) {
    PoprunSetup setup = childSetup(instances, command);
    setup.environment["POPDIST_BACKEND"] = GetParam();
    prepareFor(GetParam(), setup.environment);
    return setup;
  }
  /// All instances must end well: they have reported errors as they should.
  static std::map<int, ReportedError> errorsOf(const std::vector<std::string>& command, int instances = 3) {
    const Outcome outcome = run(setupOf(command, instances), kSpinningTimeout);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return reportedErrors(outcome.out);
  }
};

TEST_P(BackendError, NamesBothCallsThatDoNotMatch) {
  const auto errors = errorsOf({"mismatch"});
  EXPECT_EQ(errors.size(), 3U);
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, kFailedPreconditionCode) << error.what;
    EXPECT_THAT(error.what, HasSubstr("sum of 10 float"));
    EXPECT_THAT(error.what, HasSubstr("sum of 20 float"));
    EXPECT_THAT(error.what, HasSubstr("'weights'"));
    EXPECT_THAT(error.what, HasSubstr("instance " + std::to_string(error.peer) + " on "));
    EXPECT_THAT(error.what, HasSubstr("does not match"));
  }
}

// With two ranks, the late one is named; it gets its error in that call or in the next one.
TEST_P(BackendError, NamesWhoHasNotComeBeforeTheDeadline) {
  for (const std::string call : {"sum", "long_sum", "long_broadcast", "long_reduce"}) {
    const auto errors = errorsOf({"late", call}, 2);
    ASSERT_EQ(errors.size(), 2U) << call;
    for (const auto& [instance, error] : errors) {
      EXPECT_EQ(error.code, kDeadlineExceededCode) << call << ": " << error.what;
      EXPECT_EQ(error.peer, 1 - instance) << call << ": " << error.what;
    }
    EXPECT_THAT(errors.at(1).what, HasSubstr("the deadline has passed, waiting for rank 0 (instance 0 on "));
    EXPECT_THAT(errors.at(0).what, HasSubstr("rank 1 aborted the call: the deadline has passed"));
  }
}

// With more than two ranks, each names the one that it has waited for itself, or the one named by another
// rank.
TEST_P(BackendError, OfADeadlineIsHeardByAll) {
  for (const std::string call : {"sum", "long_sum"}) {
    const auto errors = errorsOf({"late", call}, 4);
    EXPECT_EQ(errors.size(), 4U) << call;
    for (const auto& [instance, error] : errors) {
      EXPECT_EQ(error.code, kDeadlineExceededCode) << call << ": " << error.what;
      EXPECT_NE(error.peer, instance) << call << ": " << error.what;
      EXPECT_THAT(error.what, HasSubstr("the deadline has passed, waiting for rank "));
    }
  }
}

// Ranks that wait for the one that has left notice it themselves; the others wait for those, who do not end.
TEST_P(BackendError, NamesToAllWhoHasLeftWell) {
  PoprunProcess poprun(setupOf({"left"}, 4));
  EXPECT_TRUE(poprun.waitFor([&] { return reportedErrors(poprun.out()).size() == 3; })) << poprun.out();
  const auto errors = reportedErrors(poprun.out());
  poprun.signal(SIGTERM);
  poprun.wait();
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, kUnavailableCode) << error.what;
    EXPECT_EQ(error.peer, 1) << error.what;
    EXPECT_THAT(error.what, HasSubstr("exited with code 0 without taking part"));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendError, ::testing::ValuesIn(backendsOfBuild()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace pop::testing
