// SPDX-License-Identifier: Apache-2.0
// Cgroups of jobs, as services make them that begin on one machine at the same moment.
#include "agent/service/job_cgroups.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pop::agent {
namespace {

TEST(JobCgroupsTest, OfServicesThatBeginTogetherAreLeftToEach) {
  if (const auto probe = JobCgroups::make(); !probe.ok()) GTEST_SKIP() << probe.status().message();
  constexpr int kServices = 16;
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> waiting = kServices;
    std::vector<std::thread> services;
    for (int i = 0; i < kServices; ++i) {
      services.emplace_back([&] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        auto cgroups = JobCgroups::make();
        ASSERT_TRUE(cgroups.ok()) << cgroups.status().message();
        Result<std::string> job = (*cgroups)->add();
        ASSERT_TRUE(job.ok()) << job.status().message();
        EXPECT_TRUE(removeCgroup(*job));
      });
    }
    for (std::thread& service : services) service.join();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace pop::agent
