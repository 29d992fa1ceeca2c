// SPDX-License-Identifier: Apache-2.0
// Thousands of jobs' lives under a simulated daemon. A failure names its seed; it then belongs into
// kRegressions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/daemon/daemon_world.h"

namespace pop::popdistd::testing {
namespace {

// For a campaign: more of them, as `SIM_LIVES=1000000 build/release/tests/simulated_daemon`.
#ifdef __SANITIZE_ADDRESS__
constexpr int kLives = 1'500;
#else
constexpr int kLives = 10'000;
#endif
int numLives() {
  const char* const wanted = std::getenv("SIM_LIVES");
  return wanted == nullptr ? kLives : std::stoi(wanted);
}

constexpr std::uint64_t kParts = 4;  // run in parallel by ctest

// Seeds that have once shown a fault.
const std::vector<std::uint64_t> kRegressions{702};

::testing::AssertionResult holds(std::uint64_t seed, DaemonWorld& world) {
  const std::vector<std::string>& broken = world.live();
  if (broken.empty()) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << "seed " << seed << " breaks";
  for (const std::string& rule : broken) failure << "\n  " << rule;
  return failure << "\nafter\n" << world.trace();
}

TEST(SimulatedDaemonsThatOnceFailed, HoldTheirRules) {
  for (const std::uint64_t seed : kRegressions) {
    DaemonWorld world(seed);
    EXPECT_TRUE(holds(seed, world));
  }
}

// To look at one: its seed, as `SIM_SEED=17 build/release/tests/simulated_daemon`.
TEST(OneSimulatedDaemon, HoldsItsRules) {
  const char* const seed = std::getenv("SIM_SEED");
  if (seed == nullptr) return;
  DaemonWorld world(std::stoull(seed));
  EXPECT_TRUE(holds(std::stoull(seed), world));
  std::printf("%s", world.trace().c_str());
}

class SimulatedDaemons : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SimulatedDaemons, HoldTheirRules) {
  int lives = 0;
  for (std::uint64_t seed = GetParam(); lives < std::max(1, numLives() / static_cast<int>(kParts));
       seed += kParts) {
    DaemonWorld world(seed);
    ASSERT_TRUE(holds(seed, world)) << "after " << lives << " lives";
    lives += world.lives();
  }
}

INSTANTIATE_TEST_SUITE_P(Part, SimulatedDaemons, ::testing::Range<std::uint64_t>(0, kParts));

// The lives above would prove little if most were alike.
TEST(SimulatedDaemonsTogether, HaveJobsThatEndInEveryWay) {
  std::map<std::string, int> ends;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    DaemonWorld world(seed);
    world.live();
    for (const auto& [end, count] : world.ends()) ends[end] += count;
  }
  for (const auto& [end, count] : ends) std::printf("%s: %d\n", end.c_str(), count);
  EXPECT_THAT(ends, ::testing::SizeIs(4)) << "succeeded, failed, cancelled, lost";
  for (const auto& [end, count] : ends) EXPECT_GE(count, 20) << end;
}

}  // namespace
}  // namespace pop::popdistd::testing
