// SPDX-License-Identifier: Apache-2.0
// One instance is killed with SIGKILL while the others need it: each of them gets an error that names it, at
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "tests/integration_popdist/reported_error.h"

namespace pop::testing {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;

// Kills instance `victim` when all are ready; what the others report must come soon.
void killAndExpectErrors(const PoprunSetup& setup, int instances, int victim) {
  PoprunProcess poprun(setup);
  const std::vector<pid_t> pids = poprun.waitReady(instances);
  ASSERT_EQ(static_cast<int>(pids.size()), instances);
  const pid_t dead = pids[static_cast<std::size_t>(victim)];
  const auto killed = steady_clock::now();
  ::kill(dead, SIGKILL);
  EXPECT_EQ(poprun.wait(), 137) << poprun.err();

  const std::map<int, ReportedError> errors = reportedErrors(poprun.out());
  EXPECT_EQ(static_cast<int>(errors.size()), instances - 1) << poprun.out();
  EXPECT_FALSE(errors.contains(victim));
  Milliseconds longest{0};
  for (const auto& [instance, error] : errors) {
    const auto took = std::chrono::duration_cast<Milliseconds>(error.at - killed);
    EXPECT_EQ(error.code, kUnavailableCode) << "instance " << instance << ": " << error.what;
    EXPECT_EQ(error.peer, victim) << "instance " << instance << ": " << error.what;
    EXPECT_THAT(error.what, HasSubstr("instance " + std::to_string(victim) + " (pid " + std::to_string(dead) +
                                      ") was killed by SIGKILL"));
    EXPECT_GE(took.count(), 0);
    EXPECT_LT(took, timeToHearOfADeath()) << "instance " << instance;
    longest = std::max(longest, took);
  }
  std::printf("longest time from kill to error: %d ms\n", static_cast<int>(longest.count()));
  ::testing::Test::RecordProperty("kill_to_error_ms", static_cast<int>(longest.count()));
  EXPECT_THAT(poprun.err(), HasSubstr("instance " + std::to_string(victim)));
}

struct Case {
  int instances;
  int victim;
  int count;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.victim << " of " << tested.instances << ", " << tested.count << " elements";
}

class KilledPeer : public ::testing::TestWithParam<Case> {};

TEST_P(KilledPeer, IsNamedByEveryOtherInstanceInAnAllReduce) {
  const auto& [instances, victim, count] = GetParam();
  killAndExpectErrors(childSetup(instances, {"sum-forever", std::to_string(count)}), instances, victim);
}

TEST_P(KilledPeer, IsNamedByEveryOtherInstanceInAnAsynchronousOne) {
  const auto& [instances, victim, count] = GetParam();
  killAndExpectErrors(childSetup(instances, {"async-sum-forever", std::to_string(count)}), instances, victim);
}

INSTANTIATE_TEST_SUITE_P(Cases, KilledPeer,
                         ::testing::Values(Case{2, 0, 1}, Case{2, 1, 1'000'000}, Case{4, 2, 1},
                                           Case{4, 0, 1'000'000}, Case{8, 7, 1000}),
                         [](const auto& param_info) {
                           return std::to_string(param_info.param.victim) + "Of" +
                                  std::to_string(param_info.param.instances) + "With" +
                                  std::to_string(param_info.param.count);
                         });

TEST(KilledPeerOfAFence, IsNamedByEveryOtherInstance) {
  killAndExpectErrors(childSetup(4, {"fence-without", "1"}), 4, 1);
}

}  // namespace
}  // namespace pop::testing
