// SPDX-License-Identifier: Apache-2.0
// The benchmark of training, without its peer: it runs, and says all that it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/harness/command.h"

namespace pop::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::seconds kTimeout{200};

TEST(TrainingBenchmark, MeasuresEveryEpochAndJudgesTheLast) {
  ASSERT_TRUE(adoptOrphans().ok());
  const Result<RunResult> run =
      pop::bench::run({.argv = {POP_BIN_DIR "/bench_training", "--only", "example", "--rounds", "1",
                                "--epochs", "2", "--quiet-timeout-ms", "0"},
                       .time_limit = kTimeout});
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run.value().succeeded()) << inWords(run.value()) << '\n' << run.value().output;
  const std::string& output = run.value().output;
  EXPECT_THAT(output, HasSubstr(R"({"type": "machine", "cpu_model": )"));
  EXPECT_THAT(output, HasSubstr(R"({"type": "run", "contestant": "example", "round": 0,)"));
  EXPECT_THAT(output, HasSubstr(R"("end": "ok", "wall_ms": )"));
  EXPECT_THAT(output, HasSubstr(R"({"type": "epoch", "contestant": "example", "round": 0, "epoch": 2,)"));
  EXPECT_THAT(output,
              HasSubstr(R"({"type": "samples_per_s", "contestant": "example", "epoch": 1, "runs": 1,)"));
  EXPECT_THAT(output, HasSubstr(R"({"type": "goal", "goal": "samples/s of example, last epoch / first",)"));
  EXPECT_THAT(output, Not(HasSubstr("ddp"))) << "judged without having been measured";
}

TEST(TrainingBenchmark, ATrainingThatTakesTooLongHasFailed) {
  ASSERT_TRUE(adoptOrphans().ok());
  const Result<RunResult> run =
      pop::bench::run({.argv = {POP_BIN_DIR "/bench_training", "--only", "example-baseline", "--rounds", "1",
                                "--epochs", "1000", "--quiet-timeout-ms", "0", "--time-limit-ms", "1000"},
                       .time_limit = kTimeout});
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_TRUE(run.value().succeeded()) << inWords(run.value());
  EXPECT_THAT(run.value().output, HasSubstr(R"("failure": "no end within its time limit)"));
}

}  // namespace
}  // namespace pop::bench
