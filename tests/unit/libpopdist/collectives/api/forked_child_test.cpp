// SPDX-License-Identifier: Apache-2.0
// A forked child has its parent's communicators, and maybe buffers that its parent goes on with: every call
// is refused before it touches anything.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "popdist/error.hpp"
#include "tests/testing/fork_at_rest.h"
#include "tests/testing/refused.h"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::forkAtRest;
using testing::GroupShape;
using testing::isRefused;
using testing::ThreadGroup;

constexpr std::size_t kForkedElements = 1000;
constexpr float kBefore = -1;

// What is wrong, by number; 0: nothing.
int callsOf(Communicator& world) {
  const std::vector<float> in(2 * kForkedElements, 1);
  std::vector<float> out(2 * kForkedElements, kBefore);
  const std::function<void()> calls[] = {
      [&] { world.allReduce(in.data(), out.data(), kForkedElements, Type::kFloat); },
      [&] { world.allReduce(out.data(), out.data(), kForkedElements, Type::kFloat); },
      [&] { world.reduce(in.data(), out.data(), kForkedElements, Type::kFloat, Operator::kSum, 0); },
      [&] { world.reduceScatter(in.data(), out.data(), kForkedElements, Type::kFloat); },
      [&] { world.allGather(in.data(), out.data(), kForkedElements, Type::kFloat); },
      [&] { world.barrier(); },
  };
  for (int call = 0; call < std::ssize(calls); ++call) {
    const bool untouched =
        isRefused(calls[call]) && std::count(out.begin(), out.end(), kBefore) == 2 * kForkedElements;
    if (!untouched) return call + 1;
  }
  return 0;
}

class ForkedChild : public ::testing::TestWithParam<std::pair<std::string, GroupShape>> {};

// The number of the first call that a forked child is not refused, 0 for none.
int wrongCallInForkedChild(Communicator& world) {
  const pid_t child = forkAtRest();
  if (child == 0) {
    ::alarm(10);
    ::_exit(callsOf(world));
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  return WEXITSTATUS(status);
}

TEST_P(ForkedChild, IsRefusedEveryCallBeforeItTouchesAnything) {
  ThreadGroup group(GetParam().second);
  std::barrier rest(group.instances());
  group.run([&](Context& context) {
    Communicator& world = context.world();
    world.barrier();
    rest.arrive_and_wait();
    if (world.rank() == 0) {
      EXPECT_EQ(wrongCallInForkedChild(world), 0);
    }
    rest.arrive_and_wait();
    world.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ForkedChild,
    ::testing::Values(
        std::pair("InMemory", GroupShape{.replicas_of_instance = {1, 1}}),
        std::pair("OverHosts", GroupShape{.replicas_of_instance = {1, 1, 1, 1}, .instances_per_host = 2}),
        std::pair("OneAHost", GroupShape{.replicas_of_instance = {1, 1}, .instances_per_host = 1}),
        std::pair("AloneByMessages",
                  GroupShape{.replicas_of_instance = {1}, .transport = {.tcp_only = true}})),
    [](const auto& tested) { return tested.param.first; });

}  // namespace
}  // namespace popdist
