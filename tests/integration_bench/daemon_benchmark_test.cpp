// SPDX-License-Identifier: Apache-2.0
// The benchmark of popdistd leaves nothing running, however it ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "common/os/helper_program.h"
#include "tests/testing/process_tree.h"

namespace pop::testing {
namespace {

constexpr Milliseconds kTimeout{40'000};

class DaemonBenchmark : public ::testing::TestWithParam<int> {};

TEST_P(DaemonBenchmark, LeavesNothingRunningWhenItIsKilled) {
  const std::string mark = "POP_BENCH_TEST=" + std::to_string(::getpid());
  const std::string command =
      "exec env " + mark + " " POP_BIN_DIR "/bench_daemon --measure idle >/dev/null 2>&1";
  Result<os::HelperProgram> benchmark =
      os::HelperProgram::start({"/bin/sh", "-c", command}, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  ASSERT_TRUE(benchmark.ok()) << benchmark.status().message();
  const auto running = [&] { return describeProcesses(processesWith(mark)); };
  pid_t joined = -1;  // the relay of the host, which has an environment of its own
  const auto all_serve = [&] {
    for (const pid_t pid : processesWith(mark)) joined = std::max(joined, childNamed(pid, "popdist-join"));
    return joined > 0 && running().find("(popdistd,") != std::string::npos;
  };
  ASSERT_TRUE(waitUntil(all_serve, kTimeout)) << running();
  ::kill(benchmark->pid(), GetParam());
  ASSERT_TRUE(benchmark->wait(kTimeout).has_value());
  EXPECT_TRUE(waitUntil([&] { return processesWith(mark).empty(); }, kTimeout)) << running();
  EXPECT_TRUE(
      waitUntil([&] { return statOf(joined).value_or(ProcessStat{.state = 'Z'}).state == 'Z'; }, kTimeout));
}

INSTANTIATE_TEST_SUITE_P(By, DaemonBenchmark, ::testing::Values(SIGTERM, SIGKILL));

}  // namespace
}  // namespace pop::testing
