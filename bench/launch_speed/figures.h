// SPDX-License-Identifier: Apache-2.0
// Figures of launches, on this host and over hosts, as values; their goals and their tables.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/results.h"
#include "bench/harness/turn.h"

namespace pop::bench {

/// Wall times of one contestant's jobs of one size.
struct TimeFigure {
  std::string contestant;
  bool is_peer = false;
  std::string job_program;  // "true", "rank", or an MPI's; over hosts "1 per host" and the like
  int processes = 0;        // over hosts: the number of hosts
  Summary wall_ms;          // over runs that ended well; a figure without any has count 0
  Summary cpu_ms;           // of the launcher and the children that it has waited for, over the same runs
  Tally runs{};
};

struct Figures {
  std::vector<TimeFigure> times;
  std::vector<Figure> others{};         // rates, memory, fences and the like
  std::vector<std::string> failures{};  // of other figures that are missing, in words

  /// Null if it was not measured, or if no run succeeded.
  const TimeFigure* time(const std::string& contestant, const std::string& job_program, int processes) const;
  /// The peer with the lowest median beside `ours`, of the same jobs.
  const TimeFigure* fastestPeer(const TimeFigure& ours) const;
};

/// The goals for which there are figures, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

/// Tables of the times, and the failures.
std::string inWords(const Figures& figures);

/// Records everything, and shows it to people.
void report(const Figures& figures);

/// 1 MB = 10^6 bytes.
inline double megabytes(std::int64_t kib) {
  return static_cast<double>(kib) * 1024 / 1e6;
}

}  // namespace pop::bench
