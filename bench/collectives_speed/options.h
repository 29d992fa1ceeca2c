// SPDX-License-Identifier: Apache-2.0
// The options of bench_collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/collectives_speed/cell.h"
#include "bench/harness/options.h"

namespace pop::bench::collectives {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

struct Options : RunOptions {
  std::vector<Operation> operations{kOperations.begin(), kOperations.end()};
  std::vector<int> ranks{2, 4, 8};
  std::vector<std::size_t> bytes{8, kKiB, 64 * kKiB, kMiB, 16 * kMiB};
  int hosts = 1;     // the ranks are spread evenly over this many
  int repeats = 12;  // batches of each figure, spread over the rounds
  int rounds = 2;    // in which every contestant has a turn, a new process each time

  /// The number of cores that the ranks can use, of a machine with `cores`: each host gets one, in turn.
  int coresOfRanks(int cores) const { return hosts > 1 ? std::min(hosts, cores) : cores; }
  int batchesOfRun() const { return (repeats + rounds - 1) / rounds; }
};

/// kInvalidArgument says what is wrong with the command line.
Result<Options> parseOptions(int argc, const char* const* argv);

/// The cells: every operation on floats, and from 1 MiB on all-reduce on the 16-bit types.
std::vector<Cell> cellsOf(const Options& options);

}  // namespace pop::bench::collectives
