// SPDX-License-Identifier: Apache-2.0
// The example of each strategy, started as its first lines say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration_popdist/cluster/hand_started.h"
#include "tests/testing/free_port.h"
#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

std::string program(const std::string& name) {
  return STRATEGIES_DIRECTORY "/" + name;
}

/// The output of instance `index` of `count`: the line that all of them find.
std::string found(int index, int count) {
  return "instance " + std::to_string(index) + " of " + std::to_string(count) +
         ": y = 3.000 x0 -2.000 x1 +1.000";
}

void expectFoundByAll(const std::string& out, int instances) {
  for (int i = 0; i < instances; ++i) EXPECT_THAT(out, HasSubstr(found(i, instances)));
}

TEST(Strategies, FitWithPoprun) {
  const struct {
    std::vector<std::string> options;
    std::string program;
    int instances;
  } jobs[] = {{{"--num-instances", "2", "--num-replicas", "4"}, "popdist", 2},
              {{"--num-instances", "2"}, "hpu", 2},
              {{"--num-instances", "2"}, "hpu_by_hand", 2},
              {{"--num-replicas", "4"}, "single", 1}};
  for (const auto& job : jobs) {
    std::vector<std::string> options = job.options;
    options.push_back(program(job.program));
    const Outcome outcome = run({.options = options});
    EXPECT_EQ(outcome.exit_code, 0) << job.program << ": " << outcome.err;
    expectFoundByAll(outcome.out, job.instances);
  }
}

TEST(Strategies, FitWithHorovodrun) {
  const Outcome outcome = run({.options = {"-np", "2", "-H", "localhost:2", program("horovod")},
                               .program = POP_BIN_DIR "/names/horovodrun"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expectFoundByAll(outcome.out, 2);
}

TEST(Strategies, FitInTwoTerminals) {
  const std::vector<std::string> workers = freeAddresses(2);
  HandStarted first = HandStarted::command({program("multiworker")}, {{"TF_CONFIG", tfConfigOf(workers, 0)}});
  HandStarted second =
      HandStarted::command({program("multiworker")}, {{"TF_CONFIG", tfConfigOf(workers, 1)}});
  EXPECT_EQ(first.wait(), 0) << first.out();
  EXPECT_EQ(second.wait(), 0) << second.out();
  EXPECT_THAT(first.out(), HasSubstr(found(0, 2)));
  EXPECT_THAT(second.out(), HasSubstr(found(1, 2)));
}

TEST(Strategies, FitByForking) {
  HandStarted forking =
      HandStarted::command({program("by_fork"), "3", std::to_string(freePortsInARow(3))}, {});
  EXPECT_EQ(forking.wait(), 0) << forking.out();
  expectFoundByAll(forking.out(), 3);
}

TEST(Strategies, FitByTheVariablesOfEachMpirun) {
  for (const std::string variables : {"OMPI_COMM_WORLD_", "PMI_"}) {
    const std::string port = std::to_string(freePortsInARow(2));
    const auto start = [&](const std::string& rank) {
      return HandStarted::command({program("by_mpirun"), port},
                                  {{variables + "RANK", rank}, {variables + "SIZE", "2"}});
    };
    HandStarted first = start("0");
    HandStarted second = start("1");
    EXPECT_EQ(first.wait(), 0) << first.out();
    EXPECT_EQ(second.wait(), 0) << second.out();
    EXPECT_THAT(first.out() + second.out(), HasSubstr(found(1, 2)));
  }
  HandStarted alone = HandStarted::command({program("by_mpirun")}, {});
  EXPECT_EQ(alone.wait(), 1);
  EXPECT_THAT(alone.out(), HasSubstr("start this program by mpirun"));
}

}  // namespace
}  // namespace pop::testing
