// SPDX-License-Identifier: Apache-2.0
// poprun without standard streams, as cron jobs and careless daemons start programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/poprun_process.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

class ClosedStreams : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(ClosedStreams, DoNotMatter) {
  EXPECT_EQ(
      run({.options = {"--num-instances", "2"}, .child = {"lines", "2000", "80"}, .closed_fds = GetParam()})
          .exit_code,
      0);
  EXPECT_EQ(run({.child = {"exit", "3"}, .closed_fds = GetParam()}).exit_code, 3);
}

INSTANTIATE_TEST_SUITE_P(All, ClosedStreams,
                         ::testing::Values(std::vector<int>{0}, std::vector<int>{1}, std::vector<int>{2},
                                           std::vector<int>{0, 1, 2}));

TEST(ClosedStderr, DoesNotKeepStdoutFromArriving) {
  const Outcome result = run({.child = {"lines", "100", "80"}, .closed_fds = {0, 2}});
  std::string expected;
  for (int number = 0; number < 100; ++number) expected += lineText(0, 'o', number, 80);
  EXPECT_EQ(result.out, expected);
}

}  // namespace
}  // namespace pop::testing
