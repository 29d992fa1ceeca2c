// SPDX-License-Identifier: Apache-2.0
// All collectives between real processes.
#include <gtest/gtest.h>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

class CollectivesUnderPoprun : public ::testing::TestWithParam<int> {};

TEST_P(CollectivesUnderPoprun, GiveExactResults) {
  const Outcome outcome = run(childSetup(GetParam(), {"collectives"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_P(CollectivesUnderPoprun, GiveExactResultsOverTcp) {
  PoprunSetup setup = childSetup(GetParam(), {"collectives"});
  setup.options.insert(setup.options.begin(), {"-x", "POPDIST_TRANSPORT=tcp"});
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_P(CollectivesUnderPoprun, AreMatchedByNameWhenAsynchronous) {
  const Outcome outcome = run(childSetup(GetParam(), {"asynchronous"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

INSTANTIATE_TEST_SUITE_P(Instances, CollectivesUnderPoprun, ::testing::Values(1, 2, 3, 4, 5, 8),
                         [](const auto& param_info) { return std::to_string(param_info.param); });

}  // namespace
}  // namespace pop::testing
