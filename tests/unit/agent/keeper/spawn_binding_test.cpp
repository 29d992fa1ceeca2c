// SPDX-License-Identifier: Apache-2.0
// Bindings that the kernel refuses between a job's planning and its start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/keeper/spawn.h"
#include "common/contract/exit_code.h"
#include "common/sys/fd.h"

namespace pop::keeper {
namespace {

using model::CpuSet;
using ::testing::AllOf;
using ::testing::HasSubstr;

SpawnOrder order(CpuSet cpus, CpuSet memory_nodes) {
  return {.argv = {"/bin/true"},
          .cpus = std::move(cpus),
          .memory_nodes = std::move(memory_nodes),
          .stdio = {0, 1, 2}};
}

TEST(SpawnBinding, ToCpusThatAreNotThereIsAFailureThatNamesThem) {
  const SpawnResult result = spawn(order(CpuSet({4000, 4001}), {}));
  EXPECT_EQ(result.pid, -1);
  EXPECT_EQ(result.exit_code, contract::kExitLauncherFailed);
  EXPECT_THAT(result.reason, AllOf(HasSubstr("CPUs 4000-4001"), HasSubstr("--process-placement")));
}

TEST(SpawnBinding, ToMemoryThatIsNotThereIsAFailureThatNamesIt) {
  const SpawnResult result = spawn(order({}, CpuSet({1000})));
  EXPECT_EQ(result.exit_code, contract::kExitLauncherFailed);
  EXPECT_THAT(result.reason, AllOf(HasSubstr("memory nodes 1000"), HasSubstr("--process-placement")));
}

TEST(Spawn, WithMoreBytesThanTheSystemTakesNamesTheLimits) {
  SpawnOrder too_long = order({}, {});
  too_long.argv.emplace_back(std::size_t{129} << 10U, 'x');
  const SpawnResult result = spawn(too_long);
  EXPECT_EQ(result.pid, -1);
  EXPECT_EQ(result.exit_code, contract::kExitCannotExecute);
  EXPECT_THAT(result.reason, AllOf(HasSubstr("'/bin/true'"), HasSubstr("`ulimit -s`"), HasSubstr("128 KiB")));
}

// A small limit is no reason not to start: what is open stays open.
TEST(Spawn, PassesADescriptorAboveTheChildsLimit) {
  sys::Pipe pipe = sys::makePipe().value();
  SpawnOrder limited = order({}, {});
  limited.argv = {"/bin/sh", "-c", "ulimit -n; test -p /proc/self/fd/20"};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limited.descriptor_limit), 0);
  limited.descriptor_limit.rlim_cur = 16;
  limited.stdio[1] = pipe.write_end.get();
  limited.passed = pipe.write_end.get();
  const SpawnResult result = spawn(limited);
  ASSERT_GT(result.pid, 0) << result.reason;
  int status = -1;
  ASSERT_EQ(::waitpid(result.pid, &status, 0), result.pid);
  EXPECT_EQ(status, 0);
  std::array<char, 8> text{};
  EXPECT_EQ(::read(pipe.read_end.get(), text.data(), text.size()), 3);
  EXPECT_STREQ(text.data(), "16\n");
}

// Most programs do not need it, and those that do say so.
TEST(Spawn, PassesNoDescriptorAboveTheKeepersOwnLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  SpawnOrder limited = order({}, {});
  limited.argv = {"/bin/sh", "-c", "test ! -e /proc/self/fd/20"};
  limited.passed = 0;
  const rlimit few{.rlim_cur = 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const SpawnResult result = spawn(limited);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GT(result.pid, 0) << result.reason;
  int status = -1;
  ASSERT_EQ(::waitpid(result.pid, &status, 0), result.pid);
  EXPECT_EQ(status, 0);
}

TEST(SpawnBinding, LeavesTheKeeperWhereItWas) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before)) ++first;
  const SpawnResult result = spawn(order(CpuSet({first}), {}));
  ASSERT_GT(result.pid, 0) << result.reason;
  int status = -1;
  ASSERT_EQ(::waitpid(result.pid, &status, 0), result.pid);
  EXPECT_EQ(status, 0);
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace pop::keeper
