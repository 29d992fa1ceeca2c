// SPDX-License-Identifier: Apache-2.0
// Thousands of simulated job lives over many hosts. A failure names its seed; it then belongs into
// kRegressions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/sim_world.h"

namespace pop::sim {
namespace {

// For a campaign: more of them, as `SIM_SEEDS=1000000 build/release/tests/simulated_jobs`.
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kSeeds = 4'000;
#else
constexpr std::uint64_t kSeeds = 30'000;
#endif
std::uint64_t numSeeds() {
  const char* const wanted = std::getenv("SIM_SEEDS");
  return wanted == nullptr ? kSeeds : std::stoull(wanted);
}

constexpr std::uint64_t kParts = 8;  // run in parallel by ctest

// Seeds that have once shown a fault.
const std::vector<std::uint64_t> kRegressions{5961, 17245, 17419, 17426, 739413};

::testing::AssertionResult holds(std::uint64_t seed) {
  World world(seed, Scenario::random(seed));
  const std::vector<std::string>& broken = world.live();
  if (broken.empty()) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << "seed " << seed << " breaks";
  for (const std::string& rule : broken) failure << "\n  " << rule;
  return failure;
}

TEST(SimulatedLivesThatOnceFailed, HoldTheirRules) {
  for (const std::uint64_t seed : kRegressions) EXPECT_TRUE(holds(seed));
}

// To look at one life: its seed, as `SIM_SEED=17 build/release/tests/simulated_jobs`.
TEST(OneSimulatedLife, HoldsItsRules) {
  const char* const seed = std::getenv("SIM_SEED");
  if (seed == nullptr) return;
  World world(std::stoull(seed), Scenario::random(std::stoull(seed)));
  world.tellEverything();
  EXPECT_THAT(world.live(), ::testing::IsEmpty());
}

class SimulatedLives : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SimulatedLives, HoldTheirRules) {
  const std::uint64_t seeds = numSeeds();
  for (std::uint64_t seed = GetParam(); seed < seeds; seed += kParts) {
    ASSERT_TRUE(holds(seed));
  }
}

// The lives above would prove little if most were alike.
TEST(SimulatedLivesTogether, EndInEveryWay) {
  std::map<std::string, int> ends;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    World world(seed, Scenario::random(seed));
    world.live();
    if (world.controllerDied()) {
      ++ends["controller died"];
      continue;
    }
    const JobOutcome& outcome = *world.outcome();
    ++ends[outcome.user_signal != 0              ? "user"
           : outcome.timed_out                   ? "timeout"
           : !outcome.failure                    ? "success"
           : outcome.failure->instances_lost > 0 ? "hosts lost"
           : outcome.failure->hosts_lost         ? "hosts not reached"
                                                 : "instance failed"];
    if (outcome.restarts > 0) ++ends["restarted"];
    const bool lost = outcome.failure && outcome.failure->hosts_lost;
    if (lost && !outcome.why_not_again.empty()) ++ends["too few hosts left"];
    if (outcome.restarts > 0 && !outcome.failure) ++ends["success after all"];
  }
  for (const auto& [end, count] : ends) std::printf("%s: %d\n", end.c_str(), count);
  EXPECT_EQ(ends.size(), 10U);
  for (const auto& [end, count] : ends) EXPECT_GE(count, 20) << end;
}

INSTANTIATE_TEST_SUITE_P(Part, SimulatedLives, ::testing::Range<std::uint64_t>(0, kParts));

}  // namespace
}  // namespace pop::sim
