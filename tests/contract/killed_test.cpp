// SPDX-License-Identifier: Apache-2.0
// A rank is killed with SIGKILL at a random moment of a random operation: all others must name it, and
// nothing may hang. POPDIST_KILL_ROUNDS=1000 makes a campaign of it (docs/dev/testing.md), which allows them
// a second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
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
  std::string what;            // as contract_child is told
  std::uint64_t microseconds;  // after the first call
  std::uint64_t seed;
};

Round roundOf(std::uint64_t seed, const std::string& what, int most_ranks) {
  pop::SplitMix64 random(seed);
  constexpr int kRanks[] = {2, 3, 4, 8};
  const int ranks = std::min(kRanks[random.below(4)], most_ranks);
  const auto victim = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  // Often within the first calls, sometimes after many.
  const std::uint64_t longest = random.below(2) == 0 ? 500 : 20'000;
  return {ranks, victim, what, random.below(longest), seed};
}

std::int64_t momentOfDeath(const std::string& out) {
  const std::size_t at = out.find("dies at ");
  return at == std::string::npos ? 0 : std::atoll(out.c_str() + at + 8);
}

// The longest time until a survivor knew.
std::chrono::milliseconds killOnce(const Round& round, const Way& way) {
  const std::string victim = std::to_string(round.victim);
  PoprunProcess poprun(
      {.options = {"--num-instances", std::to_string(round.ranks), "--tag-output", "yes", "--kill-grace",
                   pop::testing::kGraceToReport, CONTRACT_CHILD_PATH, "die", round.what, victim,
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

// The call in which ranks are killed: an operation's number, or calls that go on beside each other.
std::string nameOfWhat(const std::string& what) {
  return std::isdigit(what.front()) != 0 ? plan::nameOf(static_cast<Operation>(std::stoi(what))) : what;
}

std::uint64_t firstSeedOf(const std::string& what) {
  return std::isdigit(what.front()) != 0 ? std::stoull(what) : what == "named" ? 10 : 11;
}

class KilledRank : public ::testing::TestWithParam<std::tuple<Way, std::string>> {};

TEST_P(KilledRank, IsNamedByAllOthers) {
  const auto& [way, what] = GetParam();
  std::vector<std::chrono::milliseconds> times;
  const std::uint64_t rounds = roundsOfEach();
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    const Round round = roundOf(seed * 12 + firstSeedOf(what), what, way.most_ranks);
    SCOPED_TRACE("round " + std::to_string(seed) + ": rank " + std::to_string(round.victim) + " of " +
                 std::to_string(round.ranks) + " after " + std::to_string(round.microseconds) + " us");
    times.push_back(killOnce(round, way));
  }
  std::sort(times.begin(), times.end());
  std::printf("%s by %s: %zu rounds, until the last survivor had its error: median %d ms, longest %d ms\n",
              nameOfWhat(what).c_str(), way.name.c_str(), times.size(),
              static_cast<int>(times[times.size() / 2].count()), static_cast<int>(times.back().count()));
}

std::string nameOfTest(const ::testing::TestParamInfo<KilledRank::ParamType>& tested) {
  const auto& [way, what] = tested.param;
  return nameOfWhat(what) + "By" + way.name;
}

std::vector<Way> waysNamed(const std::set<std::string>& names) {
  std::vector<Way> ways = waysOfProcesses();
  std::erase_if(ways, [&](const Way& way) { return !names.contains(way.name); });
  return ways;
}

std::vector<std::string> everyOperation() {
  std::vector<std::string> numbers;
  for (int operation = 0; operation < 10; ++operation) numbers.push_back(std::to_string(operation));
  return numbers;
}

// Each way hears of an end by means of its own: a control block, a reading that fails, a ring, a connection,
// a stream, a request.
INSTANTIATE_TEST_SUITE_P(During, KilledRank,
                         ::testing::Combine(::testing::ValuesIn(waysNamed({"table", "staged", "pull",
                                                                           "messages", "tcp", "grpc",
                                                                           "mpi"})),
                                            ::testing::ValuesIn(everyOperation())),
                         nameOfTest);
// One thread makes their calls, on a communicator as any other.
INSTANTIATE_TEST_SUITE_P(DuringCallsBesideEachOther, KilledRank,
                         ::testing::Combine(::testing::ValuesIn(waysNamed({"table", "tcp", "grpc", "mpi"})),
                                            ::testing::Values("named", "fused")),
                         nameOfTest);
INSTANTIATE_TEST_SUITE_P(WhileMembersMakeAGroup, KilledRank,
                         ::testing::Combine(::testing::ValuesIn(waysNamed({"table", "messages", "tcp"})),
                                            ::testing::Values("groups")),
                         nameOfTest);

}  // namespace
}  // namespace popdist::contract
