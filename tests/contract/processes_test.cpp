// SPDX-License-Identifier: Apache-2.0
// The contract between processes that the real poprun starts: right results, in every way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/text.h"
#include "common/sys/cores.h"
#include "tests/contract/ways.h"
#include "tests/integration_popdist/reported_error.h"
#include "tests/testing/poprun_process.h"

namespace popdist::contract {
namespace {

using ::testing::HasSubstr;

constexpr pop::testing::Milliseconds kLimit{240'000};  // MPI's ranks spin while they wait

pop::testing::Outcome runWhole(const char* what, const Way& way, int ranks) {
  return pop::testing::run({.options = {"--num-instances", std::to_string(ranks), "--tag-output", "no",
                                        CONTRACT_CHILD_PATH, what, way.in_rank_order ? "ranks" : "any"},
                            .environment = way.environment},
                           kLimit);
}

class ContractOfProcesses : public ::testing::TestWithParam<std::tuple<Way, int>> {};

TEST_P(ContractOfProcesses, HoldsWholly) {
  const auto& [way, ranks] = GetParam();
  const pop::testing::Outcome outcome = runWhole("whole", way, ranks);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, ::testing::EndsWith("calls of " + std::to_string(ranks) + " ranks\n"));
  std::printf("%s", outcome.out.c_str());
}

// With few ranks, and with more than there are cores.
TEST(ContractOfAnyNumberOfProcesses, HoldsForAnySequenceOfCalls) {
  for (const Way& way : waysOfProcesses()) {
    for (const int ranks : {2, way.most_ranks}) {
      const pop::testing::Outcome outcome = runWhole("sequence", way, ranks);
      EXPECT_EQ(outcome.exit_code, 0) << way.name << ", " << ranks << " ranks: " << outcome.err;
    }
  }
}

class MismatchOfProcesses : public ::testing::TestWithParam<Way> {};

TEST_P(MismatchOfProcesses, IsToldToAllUntilTheCommunicatorIsRebuilt) {
  const Way& way = GetParam();
  const pop::testing::Outcome outcome =
      pop::testing::run({.options = {"--num-instances", "3", CONTRACT_CHILD_PATH, "mismatches",
                                     std::to_string(static_cast<int>(way.compared))},
                         .environment = way.environment},
                        kLimit);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

// The output of instances about their cores, each bound to one, as a shell starts them that is bound
// likewise.
std::string crowdedIn(int instances) {
  const std::string script = std::string(CONTRACT_CHILD_PATH) + " crowded; exit $?";
  const pop::testing::Outcome outcome = pop::testing::run(
      {.options = {"--num-instances", std::to_string(instances), "--tag-output", "no", "--process-placement",
                   "spreadcores", "--cores-per-instance", "1", "sh", "-c", script}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.out;
}

// Neither the instance nor its parent may use more than one core.
TEST(InstancesBehindAWrapper, KnowWhetherEachHasACore) {
  const auto cores = static_cast<int>(pop::sys::usableCores().value().size());
  std::string all_have_one;
  for (int instance = 0; instance < cores; ++instance) all_have_one += "has a core\n";
  EXPECT_EQ(crowdedIn(cores), all_have_one);
}

// The way of an exchange, by the output of each instance.
std::string pulledBy(int ranks, int forbidden) {
  const pop::testing::Outcome outcome =
      pop::testing::run({.options = {"--num-instances", std::to_string(ranks), "--tag-output", "no",
                                     CONTRACT_CHILD_PATH, "pull", std::to_string(forbidden)}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.out;
}

// Asks the system as the test's own user: its answer may differ for others.
bool letsReadOthers() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  char seen = 0;
  static const char kThere = 1;
  const iovec local{&seen, 1};
  const iovec remote{const_cast<char*>(&kThere), 1};
  const bool lets = ::process_vm_readv(child, &local, 1, &remote, 1, 0) == 1;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return lets;
}

TEST(Pulling, IsTakenWhereTheSystemAllowsIt) {
  if (!letsReadOthers()) GTEST_SKIP() << "this system lets no process read another one's memory";
  EXPECT_EQ(pulledBy(3, -1), "taken pull\ntaken pull\ntaken pull\n");
}

TEST(Pulling, IsLeftToNobodyWhereOneIsForbidden) {
  EXPECT_EQ(pulledBy(3, 1), "taken staged\ntaken staged\ntaken staged\n");
}

// The ways of all-reduces, by instance.
std::vector<std::string> waysOfReductions(int forbidden, int secret) {
  const pop::testing::Outcome outcome =
      pop::testing::run({.options = {"--num-instances", "3", "--tag-output", "no", CONTRACT_CHILD_PATH,
                                     "reduce", std::to_string(forbidden), std::to_string(secret)}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return pop::split(outcome.out, '\n');
}

TEST(Pulling, IsTriedByReductionsAndTheAnswerIsTheSameOnAll) {
  if (!letsReadOthers()) GTEST_SKIP() << "this system lets no process read another one's memory";
  const std::vector<std::string> ways = waysOfReductions(-1, -1);
  ASSERT_EQ(ways.size(), 4U);  // and the end
  EXPECT_THAT(ways[0], ::testing::StartsWith("took staged pull pull staged"));
  EXPECT_EQ(ways[1], ways[0]);
  EXPECT_EQ(ways[2], ways[0]);
}

TEST(Pulling, IsNotTriedByReductionsWhereItCannotBe) {
  const auto always_staged = ::testing::MatchesRegex("(took( staged)+)?");
  EXPECT_THAT(waysOfReductions(1, -1), ::testing::Each(always_staged));
  EXPECT_THAT(waysOfReductions(-1, 2), ::testing::Each(always_staged)) << "memory that is secret";
}

TEST(Pulling, MovesWhatCannotBeReadInAnotherWay) {
  for (const char* way : {"", "pull"}) {
    const pop::testing::Outcome outcome =
        pop::testing::run({.options = {"--num-instances", "2", CONTRACT_CHILD_PATH, "move-secret"},
                           .environment = {{"POPDIST_SHARED_ALGORITHM", way}}});
    EXPECT_EQ(outcome.exit_code, 0) << way << ": " << outcome.err;
  }
}

TEST(Pulling, WhatIsSentAndCannotBeReadIsAnErrorOnAll) {
  if (!letsReadOthers()) GTEST_SKIP() << "this system lets no process read another one's memory";
  const pop::testing::Outcome outcome = pop::testing::run(
      {.options = {"--num-instances", "2", "--tag-output", "yes", CONTRACT_CHILD_PATH, "unreadable"},
       .environment = {{"POPDIST_SHARED_ALGORITHM", "pull"}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto errors = pop::testing::reportedErrors(outcome.out);
  ASSERT_EQ(errors.size(), 2U) << outcome.out;
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, pop::testing::kUnavailableCode) << error.what;
    EXPECT_EQ(error.peer, 1 - instance) << error.what;
    EXPECT_THAT(error.what, HasSubstr("(process_vm_readv): Bad address"));
    EXPECT_THAT(error.what, HasSubstr("POPDIST_SHARED_ALGORITHM=staged"));
  }
}

// Threads go through native ways with more and fewer ranks.
std::vector<std::tuple<Way, int>> waysAndRanks() {
  std::vector<std::tuple<Way, int>> all;
  for (const Way& way : waysOfProcesses()) {
    const bool by_threads = !way.environment.contains("POPDIST_BACKEND");
    for (const int ranks : by_threads ? std::vector<int>{3} : std::vector<int>{1, 2, 3, 4})
      all.emplace_back(way, ranks);
  }
  return all;
}

std::string nameOfTest(const ::testing::TestParamInfo<ContractOfProcesses::ParamType>& tested) {
  return std::get<0>(tested.param).name + std::to_string(std::get<1>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(Ways, ContractOfProcesses, ::testing::ValuesIn(waysAndRanks()), nameOfTest);
INSTANTIATE_TEST_SUITE_P(Ways, MismatchOfProcesses, ::testing::ValuesIn(waysOfProcesses()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace popdist::contract
