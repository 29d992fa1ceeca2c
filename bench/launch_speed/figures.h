// SPDX-License-Identifier: Apache-2.0
// Measured figures, as values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/statistics.h"

namespace pop::bench {

/// Wall times of one contestant's jobs of one size.
struct TimeFigure {
  std::string contestant;
  bool is_peer = false;
  std::string job_program;  // "true", "rank", or an MPI's; over hosts "1 per host" and the like
  int processes = 0;
  Summary wall_ms;      // over runs that ended well; a figure without any has count 0
  Summary cpu_ms;       // of the launcher and the children that it has waited for, over the same runs
  int hung = 0;         // runs that were ended at their time limit
  int failed = 0;       // runs with another exit code than 0, or without the output of every rank
  int not_quiet = 0;    // counted runs that began although the machine was busy
  std::string failure;  // the first one, in words

  bool mostlyNotQuiet() const { return not_quiet * 2 > static_cast<int>(wall_ms.count); }
};

/// Jobs of two processes, one after another without a pause.
struct RateFigure {
  std::string contestant;
  double jobs_per_s = 0;  // median over blocks of (jobs in the block) / (sum of their wall times)
  int failed = 0;
  bool mostly_not_quiet = false;  // most blocks did not begin on a quiet machine
};

/// Peak memory of a launcher: all processes of a job except the instances.
struct MemoryFigure {
  std::string contestant;
  int processes = 0;
  std::int64_t largest_kib = 0;
  std::int64_t sum_kib = 0;  // each at its own peak; pages that processes share count for each of them
  std::string by_process;    // "poprun 5120 KiB, pop-keeper 2048 KiB"
};

struct Figures {
  std::vector<TimeFigure> times;
  std::vector<RateFigure> rates;
  std::vector<MemoryFigure> memory;

  /// Null if it was not measured, or if no run succeeded.
  const TimeFigure* time(const std::string& contestant, const std::string& job_program, int processes) const {
    const auto found = std::find_if(times.begin(), times.end(), [&](const TimeFigure& figure) {
      return figure.contestant == contestant && figure.job_program == job_program &&
             figure.processes == processes && figure.wall_ms.count > 0;
    });
    return found == times.end() ? nullptr : &*found;
  }
};

}  // namespace pop::bench
