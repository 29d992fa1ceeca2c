// SPDX-License-Identifier: Apache-2.0
// The ports that an instance may listen at.
#include <gtest/gtest.h>

#include <set>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

TEST(Ports, AreDistinctAndFree) {
  constexpr std::size_t kInstances = 8;
  const Outcome result =
      run({.options = {"--num-instances", std::to_string(kInstances), "--tag-output", "no"},
           .child = {"bind-ports"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> bound = linesOf(result.out);
  EXPECT_EQ(std::set<std::string>(bound.begin(), bound.end()).size(), kInstances) << result.out;
}

}  // namespace
}  // namespace pop::testing
