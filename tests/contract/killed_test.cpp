// SPDX-License-Identifier: Apache-2.0
// A rank is killed with SIGKILL at a random moment of a random operation: all others must name it, and
// nothing may hang. POPDIST_KILL_ROUNDS=1000 makes a campaign of it (docs/testing.md), which allows them a
// second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/random.h"
#include "tests/contract/case.h"
#include "tests/contract/ways.h"
#include "tests/integration_popdist/reported_error.h"

namespace popdist::contract {
namespace {

using pop::testing::PoprunProcess;
using pop::testing::ReportedError;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

struct Round {
  int ranks;
  int victim;
  Operation operation;
  std::uint64_t microseconds;  // after the first call
  std::uint64_t seed;
};

Round roundOf(std::uint64_t seed, Operation operation) {
  pop::SplitMix64 random(seed);
  constexpr int kRanks[] = {2, 3, 4, 8};
  const int ranks = kRanks[random.below(4)];
  const auto victim = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  // Often within the first calls, sometimes after many.
  const std::uint64_t longest = random.below(2) == 0 ? 500 : 20'000;
  return {ranks, victim, operation, random.below(longest), seed};
}

std::int64_t momentOfDeath(const std::string& out) {
  const std::size_t at = out.find("dies at ");
  return at == std::string::npos ? 0 : std::atoll(out.c_str() + at + 8);
}

// The longest time until a survivor knew.
std::chrono::milliseconds killOnce(const Round& round, const Way& way) {
  const std::string victim = std::to_string(round.victim);
  PoprunProcess poprun({.options = {"--num-instances", std::to_string(round.ranks), "--tag-output", "yes",
                                    "--kill-grace", pop::testing::kGraceToReport, CONTRACT_CHILD_PATH, "die",
                                    std::to_string(static_cast<int>(round.operation)), victim,
                                    std::to_string(round.microseconds), std::to_string(round.seed)},
                        .environment = way.environment});
  EXPECT_EQ(poprun.wait(), 137) << poprun.err();
  const steady_clock::time_point died{std::chrono::nanoseconds(momentOfDeath(poprun.out()))};
  const auto errors = pop::testing::reportedErrors(poprun.out());
  EXPECT_EQ(static_cast<int>(errors.size()), round.ranks - 1) << poprun.out() << poprun.err();
  std::chrono::milliseconds longest{0};
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, pop::testing::kUnavailableCode) << error.what;
    EXPECT_EQ(error.peer, round.victim) << error.what;
    EXPECT_THAT(error.what, HasSubstr("instance " + victim + " (pid "));
    EXPECT_THAT(error.what, HasSubstr("was killed by SIGKILL"));
    longest = std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(error.at - died));
  }
  EXPECT_LT(longest.count(), pop::testing::timeToHearOfADeath().count());
  return longest;
}

std::uint64_t roundsOfEach() {
  const char* const rounds = std::getenv("POPDIST_KILL_ROUNDS");
  return rounds == nullptr ? 2 : (std::strtoull(rounds, nullptr, 10) + 9) / 10;
}

class KilledRank : public ::testing::TestWithParam<std::tuple<Way, Operation>> {};

TEST_P(KilledRank, IsNamedByAllOthers) {
  const auto& [way, operation] = GetParam();
  std::chrono::milliseconds longest{0};
  const std::uint64_t rounds = roundsOfEach();
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    const Round round = roundOf(seed * 10 + static_cast<std::uint64_t>(operation), operation);
    SCOPED_TRACE("round " + std::to_string(seed) + ": rank " + std::to_string(round.victim) + " of " +
                 std::to_string(round.ranks) + " after " + std::to_string(round.microseconds) + " us");
    longest = std::max(longest, killOnce(round, way));
  }
  std::printf("%s: %d rounds, longest time from kill to error: %d ms\n", plan::nameOf(operation),
              static_cast<int>(rounds), static_cast<int>(longest.count()));
}

std::string nameOfTest(const ::testing::TestParamInfo<KilledRank::ParamType>& tested) {
  const auto& [way, operation] = tested.param;
  return std::string(plan::nameOf(operation)) + "By" + way.name;
}

std::vector<Way> waysNamed(const std::set<std::string>& names) {
  std::vector<Way> ways = allWays();
  std::erase_if(ways, [&](const Way& way) { return !names.contains(way.name); });
  return ways;
}

// Each way hears of an end by means of its own: a board, a reading that fails, a ring, a connection.
INSTANTIATE_TEST_SUITE_P(
    During, KilledRank,
    ::testing::Combine(::testing::ValuesIn(waysNamed({"table", "staged", "pull", "messages", "tcp"})),
                       ::testing::Values(Operation::kAllReduce, Operation::kReduceScatter,
                                         Operation::kAllGather, Operation::kBroadcast, Operation::kAllToAll,
                                         Operation::kBarrier, Operation::kReduce, Operation::kGather,
                                         Operation::kScatter, Operation::kSendRecv)),
    nameOfTest);

}  // namespace
}  // namespace popdist::contract
