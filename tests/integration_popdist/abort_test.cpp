// SPDX-License-Identifier: Apache-2.0
// Context::abort ends the whole job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Abort : public ::testing::TestWithParam<int> {};

TEST_P(Abort, EndsTheJobWithItsCodeAndMessage) {
  const int code = GetParam();
  const Outcome outcome = run(childSetup(4, {"abort", "2", std::to_string(code), "the loss is NaN"}));
  EXPECT_EQ(outcome.exit_code, code);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the loss is NaN"), HasSubstr("instance 2")));
}

INSTANTIATE_TEST_SUITE_P(Codes, Abort, ::testing::Values(1, 17, 255),
                         [](const auto& param_info) { return std::to_string(param_info.param); });

TEST(AbortOfOneInstance, EndsTheJobToo) {
  const Outcome outcome = run(childSetup(1, {"abort", "0", "9", "no data"}));
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_THAT(outcome.err, HasSubstr("no data"));
}

}  // namespace
}  // namespace pop::testing
