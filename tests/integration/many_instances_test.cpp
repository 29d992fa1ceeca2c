// SPDX-License-Identifier: Apache-2.0
// More instances than cores, and more descriptors than the usual limit.
#include <gtest/gtest.h>

#include <set>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

class ManyInstances : public ::testing::TestWithParam<int> {};

TEST_P(ManyInstances, AllRunAndAllAreHeard) {
  const int instances = GetParam();
  const Outcome result = run({.options = {"--num-instances", std::to_string(instances), "--tag-output", "no",
                                          "sh", "-c", "echo $POPDIST_INSTANCE_INDEX"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<int> heard;
  for (const std::string& line : linesOf(result.out)) heard.insert(std::stoi(line));
  EXPECT_EQ(static_cast<int>(heard.size()), instances);
  EXPECT_EQ(*heard.rbegin(), instances - 1);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ManyInstances, ::testing::Values(64, 200));

TEST(ManyInstances, RunUnderALowSoftLimitOfDescriptors) {
  const Outcome result = run({.options = {"--num-instances", "64", "true"}, .descriptor_limit = 64});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(ManyInstances, OneAfterTheOtherLeaveNothing) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(run({.options = {"--num-instances", "4", "true"}}).exit_code, 0) << "in run " << i;
  }
}

}  // namespace
}  // namespace pop::testing
