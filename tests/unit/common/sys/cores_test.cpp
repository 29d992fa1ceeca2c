// SPDX-License-Identifier: Apache-2.0
#include "common/sys/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/sys/fd.h"

namespace pop::sys {
namespace {

cpu_set_t allowedCores() {
  cpu_set_t cores;
  EXPECT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
  return cores;
}

TEST(Cores, AreTheSameToUseAfterAChange) {
  const cpu_set_t before = allowedCores();
  EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(currentCore()), &before));
  moveTo(usableCores().value());
  const cpu_set_t after = allowedCores();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Cores, EachThatMayBeUsedCanBeMovedTo) {
  const cpu_set_t before = allowedCores();
  const std::vector<int> cores = usableCores().value();
  for (const int core : cores) {
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(core), &before));
    bool is_there = false;  // the system may move it again at once
    for (int attempt = 0; attempt < 100 && !is_there; ++attempt) {
      moveTo({core});
      is_there = currentCore() == core;
    }
    EXPECT_TRUE(is_there) << core;
    const cpu_set_t after = allowedCores();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
  EXPECT_EQ(static_cast<int>(usableCores()->size()), CPU_COUNT(&before));
}

TEST(Cores, AThreadIsNotMovedToNone) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = currentCore();
    CPU_SET(static_cast<std::size_t>(here), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    moveTo({});
    EXPECT_EQ(currentCore(), here);
    const cpu_set_t after = allowedCores();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
  }).join();
}

TEST(Cores, OfSeveralThreadsCountOnce) {
  std::set<std::pair<std::string, std::string>> cores;  // each by the system's numbers of package and core
  const std::vector<int> threads = usableCores().value();
  for (const int thread : threads) {
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(thread) + "/topology/";
    cores.emplace(readFile(topology + "physical_package_id").value(), readFile(topology + "core_id").value());
  }
  EXPECT_EQ(countCores(), static_cast<int>(cores.size()));
}

TEST(Cores, ThatMayNotBeUsedDoNotCount) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(usableCores()->front()), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(countCores(), 1);
  }).join();
}

}  // namespace
}  // namespace pop::sys
