// SPDX-License-Identifier: Apache-2.0
// For how long jobs that have ended are kept. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "popdistd/jobs/table/job_table.h"

namespace pop::popdistd {

struct RetentionSettings {
  std::chrono::seconds age = std::chrono::hours(24 * 30);  ///< since a job's end; 0: no limit
  std::size_t most_jobs = 100000;                          ///< that have ended; 0: no limit
};

/// Looks through all jobs once a minute, and passes on in turns what is too much: so no turn is long.
class Retention {
 public:
  explicit Retention(RetentionSettings settings) : settings_(settings) {}

  /// The jobs to forget in this turn, the oldest first, at most 500. Call it every second. `now`: SeenTime's.
  std::vector<std::int64_t> due(const JobTable& jobs, std::chrono::system_clock::time_point now);

 private:
  void look(const JobTable& jobs, std::chrono::system_clock::time_point now);

  const RetentionSettings settings_;
  std::deque<std::int64_t> due_;
  std::chrono::system_clock::time_point looked_;
};

}  // namespace pop::popdistd
