// SPDX-License-Identifier: Apache-2.0
// Ends of instances that were started by hand: the others hear of each, and of its kind, at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <ostream>
#include <string>

#include "tests/integration_popdist/cluster/hand_started.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// A second on a quiet machine.
constexpr std::chrono::seconds kAtOnce{5};

void expectUnavailable(HandStarted& process, int peer) {
  EXPECT_EQ(process.wait(), kUnavailableCode) << process.out();
  EXPECT_THAT(process.out(), HasSubstr("peer " + std::to_string(peer) + ":"));
}

struct Case {
  const char* doing;
  int victim;
  const char* backend;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.doing << ", " << tested.victim << " on " << tested.backend;
}

class KilledInstance : public ::testing::TestWithParam<Case> {};

TEST_P(KilledInstance, IsNamedByAllOthers) {
  const auto& [doing, victim, backend] = GetParam();
  std::vector<HandStarted> all = startAll(freeAddresses(3), {doing, "20000"}, {{"POPDIST_BACKEND", backend}});
  for (HandStarted& each : all) ASSERT_TRUE(each.waitFor("ready")) << each.out();
  const auto killed = Clock::now();
  all[static_cast<std::size_t>(victim)].kill(SIGKILL);
  for (int i = 0; i < 3; ++i) {
    if (i != victim) expectUnavailable(all[static_cast<std::size_t>(i)], victim);
  }
  EXPECT_LT(Clock::now() - killed, kAtOnce);
}

INSTANTIATE_TEST_SUITE_P(Cases, KilledInstance,
                         ::testing::Values(Case{"sum-forever", 0, "native"}, Case{"sum-forever", 2, "native"},
                                           Case{"fence-forever", 0, "native"},
                                           Case{"fence-forever", 1, "native"},
                                           Case{"sum-forever", 1, "grpc"}));

TEST(EndedInstance, AbortEndsAll) {
  std::vector<HandStarted> all = startAll(freeAddresses(3), {"abort", "20000"});
  for (HandStarted& each : all) {
    EXPECT_EQ(each.wait(), 7) << each.out();
    EXPECT_THAT(each.out(), HasSubstr("ended the job: enough\\x0aof it"));
  }
}

TEST(EndedInstance, OneThatEndsWellIsMissedByACallThatNeedsIt) {
  std::vector<HandStarted> all = startAll(freeAddresses(3), {"leave", "20000"});
  EXPECT_EQ(all[1].wait(), 0);
  expectUnavailable(all[0], 1);
  expectUnavailable(all[2], 1);
  EXPECT_THAT(all[2].out(), HasSubstr("has ended without taking part"));
}

TEST(EndedInstance, AnExitCodeIsAFailure) {
  std::vector<HandStarted> all = startAll(freeAddresses(3), {"exit", "20000"});
  EXPECT_EQ(all[1].wait(), 3);
  expectUnavailable(all[0], 1);
  expectUnavailable(all[2], 1);
  EXPECT_THAT(all[2].out(), HasSubstr("exit code other than 0"));
}

TEST(EndedInstance, AnExceptionIsAFailure) {
  std::vector<HandStarted> all = startAll(freeAddresses(3), {"throw", "20000"});
  EXPECT_EQ(all[1].wait(), 70);
  expectUnavailable(all[0], 1);
  expectUnavailable(all[2], 1);
  EXPECT_THAT(all[2].out(), HasSubstr("by an exception"));
}

TEST(EndedInstance, ValuesOutliveTheLeaderAndFencesDoNot) {
  std::vector<HandStarted> all = startAll(freeAddresses(3), {"leader-leaves", "20000"});
  EXPECT_EQ(all[0].wait(), 0) << all[0].out();
  for (const std::size_t other : {1U, 2U}) {
    ASSERT_TRUE(all[other].waitFor("ready"));
    all[other].write("\n");
    expectUnavailable(all[other], 0);
    EXPECT_THAT(all[other].out(), HasSubstr("has ended"));
  }
}

}  // namespace
}  // namespace pop::testing
