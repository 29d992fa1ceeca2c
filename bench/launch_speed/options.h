// SPDX-License-Identifier: Apache-2.0
// The options of bench_launch.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/harness/options.h"

namespace pop::bench {

struct LaunchOptions : RunOptions {
  std::vector<int> process_counts{1, 2, 8, 32, 64, 128, 1024};
  int repeats = 11;
  std::vector<int> host_counts;       // not empty: measure jobs over hosts
  std::vector<int> per_host{1};       // processes on each host
  std::vector<std::string> measures;  // empty: all
  int jobs_per_rate = 50;

  bool measure(const std::string& what) const { return chooses(measures, what); }
  int repeatsOf(int process_count) const { return process_count >= 512 ? std::min(repeats, 3) : repeats; }
  int repeatsOnHosts(int hosts) const { return hosts >= 32 ? std::min(repeats, 7) : repeats; }
  std::chrono::milliseconds timeLimitOf(int process_count) const {
    return time_limit + process_count * std::chrono::milliseconds(50);
  }
};

/// kInvalidArgument says what is wrong with the command line.
Result<LaunchOptions> parseLaunchOptions(int argc, const char* const* argv);

}  // namespace pop::bench
