// SPDX-License-Identifier: Apache-2.0
// The measuring protocol, the same for all contestants:
//   check    one operation on known values, its result compared element by element
//   warm up  batches of growing length, to find the length that takes about 20 ms; then five batches of that
//            length, unless it is one operation
//   measure  batches of n operations back to back, a barrier before each and none inside; roots rotate.
//            Time of a batch: the longest of any rank, from its leaving the barrier, over n.
//   check    as before, since a library may change its algorithm after the first call
// The timed operations work on infinity, which any number of sums leaves unchanged.
#pragma once

#include <cstddef>

#include "bench/collectives_speed/cell.h"
#include "bench/collectives_speed/ranks/member.h"

namespace pop::bench::collectives {

/// The task of a contestant's rank.
struct Task {
  Operation operation = Operation::kAllReduce;
  popdist::Type type = popdist::Type::kFloat;
  std::size_t bytes = 0;  // of the whole vector: all blocks together, where ranks have a block each
  int batches = 1;
  const char* variant = "";  // contestant's variant: memory or algorithm

  /// Elements of the whole vector; at least one for each rank where they have a block each.
  std::size_t elements() const {
    return bytes / popdist::sizeOf(type) > 0 ? bytes / popdist::sizeOf(type) : 1;
  }
};

/// Parses OPERATION TYPE BYTES BATCHES [VARIANT]. On a mistake, prints it on stderr and ends the process.
Task taskFrom(int argc, const char* const* argv);

/// Measures `task`; rank 0 prints the times in microseconds as a series (series.h). A wrong result is
/// reported on stderr and ends the process with exit code 1, and thereby the job.
void measure(Member& member, const Task& task);

}  // namespace pop::bench::collectives
