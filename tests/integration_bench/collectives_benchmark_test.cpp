// SPDX-License-Identifier: Apache-2.0
// The benchmark of collectives, without peers and with next to no repeats: it runs, and says all that it
// promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/options.h"
#include "bench/harness/command.h"
#include "bench/launch_hosts/rig.h"

namespace pop::bench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kCollectives = POP_BIN_DIR "/bench_collectives";

TEST(CollectivesBenchmark, QuickRunMeasuresEveryOperationAndJudgesIt) {
  ASSERT_TRUE(adoptOrphans().ok());
  const Result<RunResult> run =
      pop::bench::run({.argv = {kCollectives, "--quick", "--ranks", "2", "--bytes", "8,64K,1M"},
                       .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run.value().succeeded()) << inWords(run.value()) << '\n' << run.value().output;
  const std::string& output = run.value().output;
  EXPECT_THAT(output, HasSubstr(R"({"type": "machine", "cpu_model": )"));
  for (const std::string operation :
       {"all-reduce", "broadcast", "all-gather", "reduce-scatter", "all-to-all"}) {
    for (const std::string memory : {"private", "shared"})
      EXPECT_THAT(output, HasSubstr(R"({"type": "time", "operation": ")" + operation +
                                    R"(", "element": "float", "ranks": 2, "bytes": 65536, "contestant": ")" +
                                    memory + R"(", "batches": 2,)"));
  }
  EXPECT_THAT(output, HasSubstr(R"("element": "bfloat16", "ranks": 2, "bytes": 1048576,)"));
  EXPECT_THAT(output, HasSubstr(R"({"type": "limits", "operation": "all-reduce", "element": "float",)"));
  EXPECT_THAT(output,
              HasSubstr(R"({"type": "goal", "goal": "all-reduce, 2 ranks, 64 KiB: yardstick / private")"));
  EXPECT_THAT(output, HasSubstr("The machine's limits, measured alongside"));
  EXPECT_THAT(output, Not(HasSubstr("Runs without a figure")));
}

TEST(CollectivesBenchmark, ARunThatTakesTooLongIsCountedAsHung) {
  ASSERT_TRUE(adoptOrphans().ok());
  const Result<RunResult> run =
      pop::bench::run({.argv = {kCollectives, "--quick", "--op", "all-reduce", "--ranks", "2", "--bytes",
                                "512M", "--time-limit-ms", "100"},
                       .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_TRUE(run.value().succeeded()) << inWords(run.value());
  EXPECT_THAT(run.value().output, HasSubstr(R"("hung": 1)"));
}

TEST(CollectivesBenchmark, OverHostsOpenMpiIsToldToYieldOnlyWhereRanksShareAHostsCore) {
  const HostRig rig(2, POP_BIN_DIR, {});
  for (const std::string name : {"openmpi-hosts", "openmpi-hosts-tcp"}) {
    const collectives::Contestant peer = collectives::chooseContestants({name}, POP_BIN_DIR, &rig).at(0);
    collectives::Cell cell{collectives::Operation::kAllReduce, popdist::Type::kFloat, 2, 8};
    collectives::Options options;
    options.hosts = rig.size();
    const int cores = options.coresOfRanks(2);
    EXPECT_THAT(peer.commandLine(cell, 1, cores), Not(Contains("mpi_yield_when_idle"))) << name;
    cell.ranks = 4;
    EXPECT_THAT(peer.commandLine(cell, 1, cores), Contains("mpi_yield_when_idle")) << name;
  }
}

TEST(CollectivesBenchmark, AMistakenOptionIsNamedAndNothingRuns) {
  const Result<RunResult> run = pop::bench::run({.argv = {kCollectives, "--op", "scan"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().code, 2);
  EXPECT_THAT(run.value().output, HasSubstr("scan"));
}

}  // namespace
}  // namespace pop::bench
