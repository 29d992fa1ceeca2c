// SPDX-License-Identifier: Apache-2.0
// The launch benchmark, without peers and with next to no repeats: it runs, and says all that it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "bench/harness/command.h"

namespace pop::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kBenchmark = POP_BIN_DIR "/bench_launch";

TEST(LaunchBenchmark, QuickRunMeasuresEverythingWithoutPeers) {
  ASSERT_TRUE(adoptOrphans().ok());
  // A leak check needs ptrace for itself; the benchmark's memory figures use it too.
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const Result<RunResult> run =
      pop::bench::run({.argv = {kBenchmark, "--quick", "--n", "1,2", "--repeats", "1"},
                       .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run.value().succeeded()) << inWords(run.value()) << '\n' << run.value().output;
  const std::string& output = run.value().output;
  EXPECT_THAT(output, HasSubstr(R"({"type": "machine", "cpu_model": )"));
  for (const std::string contestant : {"poprun", "floor", "floor2"}) {
    EXPECT_THAT(output, HasSubstr(R"({"type": "time", "contestant": ")" + contestant +
                                  R"(", "program": "rank", "n": 2, "runs": 1,)"));
    EXPECT_THAT(output, HasSubstr(R"({"type": "memory", "contestant": ")" + contestant + R"(", "n": 128,)"));
  }
  EXPECT_THAT(output,
              HasSubstr(R"({"type": "goal", "goal": "poprun: jobs of 2 processes, one after another")"));
  EXPECT_THAT(output, HasSubstr("Whole job of `true`, median in ms"));
  EXPECT_THAT(output, Not(HasSubstr("hydra")));
}

TEST(LaunchBenchmark, AMistakenOptionIsNamedAndNothingRuns) {
  const Result<RunResult> run = pop::bench::run({.argv = {kBenchmark, "--only", "nobody"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().code, 2);
  EXPECT_THAT(run.value().output, HasSubstr("nobody"));
}

}  // namespace
}  // namespace pop::bench
