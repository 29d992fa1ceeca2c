// SPDX-License-Identifier: Apache-2.0
// The launch benchmark, without peers and with next to no repeats: it runs, and says all that it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/harness/command.h"
#include "tests/testing/temp_dir.h"

namespace pop::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLaunch = POP_BIN_DIR "/bench_launch";

TEST(LaunchBenchmark, QuickRunMeasuresEverythingWithoutPeers) {
  ASSERT_TRUE(adoptOrphans().ok());
  // A leak check needs ptrace for itself; the benchmark's memory figures use it too.
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const Result<RunResult> run = pop::bench::run(
      {.argv = {kLaunch, "--quick", "--n", "1,2", "--repeats", "1"}, .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run.value().succeeded()) << inWords(run.value()) << '\n' << run.value().output;
  const std::string& output = run.value().output;
  EXPECT_THAT(output, HasSubstr(R"({"type": "machine", "cpu_model": )"));
  for (const std::string contestant : {"poprun", "floor", "floor2"}) {
    EXPECT_THAT(output, HasSubstr(R"({"type": "time", "contestant": ")" + contestant +
                                  R"(", "program": "rank", "n": 2, "runs": 1,)"));
    EXPECT_THAT(output, HasSubstr(R"({"type": "memory", "contestant": ")" + contestant + R"(", "n": 128,)"));
  }
  EXPECT_THAT(
      output,
      HasSubstr(R"({"type": "goal", "goal": "poprun: rate, jobs of 2 processes, one after another")"));
  EXPECT_THAT(output, HasSubstr("Whole job, true, median"));
  EXPECT_THAT(output, Not(HasSubstr("hydra")));
}

// A directory at the front of PATH with a peer of ours: quick with one process, for ever with more.
class HangingPeer {
 public:
  HangingPeer() {
    const std::string program = directory_.path() + "/mpiexec.hydra";
    std::ofstream(program) << "#!/bin/sh\n[ \"$2\" = 1 ] && { echo rank 0; exit 0; }\nexec sleep 1000\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    old_path_ = std::getenv("PATH");
    ::setenv("PATH", (directory_.path() + ':' + old_path_).c_str(), 1);
  }
  ~HangingPeer() { ::setenv("PATH", old_path_.c_str(), 1); }
  HangingPeer(const HangingPeer&) = delete;
  HangingPeer& operator=(const HangingPeer&) = delete;

 private:
  testing::TempDir directory_;
  std::string old_path_;
};

TEST(LaunchBenchmark, APeerThatHangsIsCountedAndNotWaitedFor) {
  ASSERT_TRUE(adoptOrphans().ok());
  const HangingPeer peer;
  const Result<RunResult> run =
      pop::bench::run({.argv = {kLaunch, "--only", "hydra", "--n", "2", "--repeats", "1", "--measure", "time",
                                "--quiet-timeout-ms", "0", "--time-limit-ms", "100"},
                       .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_TRUE(run.value().succeeded()) << inWords(run.value());
  EXPECT_THAT(run.value().output, HasSubstr(R"("runs": 0)"));
  EXPECT_THAT(run.value().output, HasSubstr(R"("hung": 1)"));
  EXPECT_THAT(run.value().output, HasSubstr("- h1"));
}

TEST(LaunchBenchmark, QuickRunOverHostsMeasuresPoprunBesideSsh) {
  ASSERT_TRUE(adoptOrphans().ok());
  const Result<RunResult> run = pop::bench::run(
      {.argv = {kLaunch, "--quick", "--hosts", "1,2", "--repeats", "1", "--measure", "time,fence,memory"},
       .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run.value().succeeded()) << inWords(run.value()) << '\n' << run.value().output;
  for (const std::string contestant : {"poprun", "ssh-curve25519"}) {
    EXPECT_THAT(run.value().output, HasSubstr(R"({"type": "time", "contestant": ")" + contestant +
                                              R"(", "program": "1 per host", "n": 2, "runs": 1,)"));
  }
  EXPECT_THAT(run.value().output, HasSubstr("poprun: fence, 8 instances on 2 hosts"));
  EXPECT_THAT(run.value().output, HasSubstr("| memory over hosts: controller"));
}

TEST(LaunchBenchmark, QuickRunOverHostsMeasuresTheServiceBesideItsFloor) {
  ASSERT_TRUE(adoptOrphans().ok());
  const Result<RunResult> run =
      pop::bench::run({.argv = {kLaunch, "--quick", "--hosts", "2", "--per-host", "2", "--repeats", "1",
                                "--only", "poprun-service,tcp-floor", "--measure", "time,fence,memory"},
                       .time_limit = std::chrono::seconds(50)});
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(run.value().succeeded()) << inWords(run.value()) << '\n' << run.value().output;
  for (const std::string contestant : {"poprun-service", "tcp-floor"}) {
    EXPECT_THAT(run.value().output, HasSubstr(R"({"type": "time", "contestant": ")" + contestant +
                                              R"(", "program": "2 per host", "n": 2, "runs": 1,)"));
  }
  EXPECT_THAT(run.value().output, HasSubstr("poprun-service: fence, 8 instances on 2 hosts"));
  EXPECT_THAT(run.value().output, HasSubstr("| memory over hosts: agent service"));
  EXPECT_THAT(run.value().output, HasSubstr("poprun-service: memory over hosts, agent service"));
}

TEST(LaunchBenchmark, AMistakenOptionIsNamedAndNothingRuns) {
  const Result<RunResult> run = pop::bench::run({.argv = {kLaunch, "--only", "nobody"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().code, 2);
  EXPECT_THAT(run.value().output, HasSubstr("nobody"));
}

}  // namespace
}  // namespace pop::bench
