// SPDX-License-Identifier: Apache-2.0
// Large counts on two processes, in every way: 2^20 + 3, or beyond 2^31 with POPDIST_HUGE_COUNTS=1
// (docs/dev/testing.md), on a machine with 12 GiB of memory to spare.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/contract/ways.h"
#include "tests/testing/poprun_process.h"

namespace popdist::contract {
namespace {

constexpr pop::testing::Milliseconds kLimit{400'000};

class HugeCount : public ::testing::TestWithParam<Way> {};

TEST_P(HugeCount, IsReducedBroadcastAndGathered) {
  const bool huge = std::getenv("POPDIST_HUGE_COUNTS") != nullptr;
  const std::string count = std::to_string((std::size_t{1} << (huge ? 31 : 20)) + 3);
  for (const char* const memory : {"private", "shared"}) {
    const pop::testing::Outcome outcome =
        pop::testing::run({.options = {"--num-instances", "2", CONTRACT_CHILD_PATH, "huge", memory, count},
                           .environment = GetParam().environment},
                          kLimit);
    EXPECT_EQ(outcome.exit_code, 0) << memory << ": " << outcome.err;
  }
}

// Eager calls are small ones.
std::vector<Way> waysOfHugeCounts() {
  std::vector<Way> ways = waysOfProcesses();
  std::erase_if(ways, [](const Way& way) { return way.name == "eager"; });
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Ways, HugeCount, ::testing::ValuesIn(waysOfHugeCounts()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace popdist::contract
