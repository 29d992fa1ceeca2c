// SPDX-License-Identifier: Apache-2.0
// The options of bench_launch.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::bench {

struct LaunchOptions {
  std::vector<int> process_counts{1, 2, 8, 32, 64, 128, 1024};
  int repeats = 11;
  int repeats_of_large_jobs = 3;      // from kLargeJob processes on
  int repeats_on_many_hosts = 7;      // from kManyHosts on
  std::vector<int> host_counts;       // not empty: measure jobs over hosts
  std::vector<int> per_host{1};       // processes on each host
  std::vector<std::string> only;      // contestants; empty: all
  std::vector<std::string> measures;  // empty: all
  std::chrono::milliseconds quiet_timeout{1000};
  std::chrono::milliseconds time_limit{10'000};  // of one run, plus kTimePerProcess for each process
  int jobs_per_rate = 50;
  bool help = false;

  static constexpr int kLargeJob = 512;
  static constexpr int kManyHosts = 32;
  static constexpr std::chrono::milliseconds kTimePerProcess{50};

  bool measure(const std::string& what) const;
  int repeatsOf(int process_count) const {
    return process_count >= kLargeJob ? repeats_of_large_jobs : repeats;
  }
  int repeatsOnHosts(int hosts) const {
    return hosts >= kManyHosts ? std::min(repeats, repeats_on_many_hosts) : repeats;
  }
  std::chrono::milliseconds timeLimitOf(int process_count) const {
    return time_limit + process_count * kTimePerProcess;
  }
};

/// kInvalidArgument says what is wrong with the command line.
Result<LaunchOptions> parseLaunchOptions(int argc, const char* const* argv);
std::string launchHelp();

}  // namespace pop::bench
