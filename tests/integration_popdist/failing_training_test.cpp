// SPDX-License-Identifier: Apache-2.0
// A training that fails on one instance, in processes: that instance decides, whichever ends first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FailingTraining : public ::testing::TestWithParam<const char*> {};

TEST_P(FailingTraining, IsDecidedByTheInstanceThatThrew) {
  for (const char* const by : {"exit", "abort"}) {
    const Outcome outcome = run(childSetup(3, {"train", GetParam(), by}));
    EXPECT_EQ(outcome.exit_code, 3) << by << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("instance 1 of"), HasSubstr("exited with code 3"))) << by;
  }
}

INSTANTIATE_TEST_SUITE_P(OfStrategies, FailingTraining, ::testing::Values("popdist", "horovod"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace pop::testing
