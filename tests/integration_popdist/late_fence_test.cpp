// SPDX-License-Identifier: Apache-2.0
// Fences that an instance does not come to, or comes to for something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LateFence, NamesTheMissingInstanceAndCanBeRepeated) {
  const Outcome outcome = run(childSetup(4, {"late-fence", "2"}), 2 * kTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  EXPECT_EQ(errors.size(), 3U) << outcome.out;
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, kDeadlineExceededCode) << error.what;
    EXPECT_EQ(error.peer, 2) << error.what;
    EXPECT_THAT(error.what, HasSubstr("instance 2 has not entered the fence in time"))
        << "instance " << instance;
  }
}

// All are in a fence, but not for the same thing.
class DifferentCalls : public ::testing::TestWithParam<const char*> {};

TEST_P(DifferentCalls, AreToldToAllInstances) {
  const Outcome outcome = run(childSetup(2, {GetParam(), "1"}));
  EXPECT_EQ(outcome.exit_code, 0);
  const std::map<int, ReportedError> errors = reportedErrors(outcome.out);
  EXPECT_EQ(errors.size(), 2U) << outcome.out;
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, kFailedPreconditionCode) << error.what;
    EXPECT_THAT(error.what, AllOf(HasSubstr("different calls"), HasSubstr("instance 0 in 'communicator"),
                                  HasSubstr("instance 1 in '")));
  }
}

std::string nameOf(const ::testing::TestParamInfo<const char*>& tested) {
  return std::string(tested.param) == "different-calls" ? "Operations" : "Communicators";
}

INSTANTIATE_TEST_SUITE_P(Kinds, DifferentCalls,
                         ::testing::Values("different-calls", "different-communicators"), nameOf);

}  // namespace
}  // namespace pop::testing
