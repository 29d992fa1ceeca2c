// SPDX-License-Identifier: Apache-2.0
// The protocol by which every contestant is measured, the same for all:
//   check    one operation on known values, its result compared element by element
//   warm up  batches of growing length, until the length is known that takes about 20 ms; then five of that,
//            unless it is one operation
//   measure  batches of n operations back to back, a barrier before each and none inside; roots rotate.
//            Time of a batch: the longest of any rank, from its leaving the barrier, over n.
//   check    as before: a library may have gone another way the first time than since
// What operations are timed on is infinity, which stays what it is under any number of sums.
#pragma once

#include <cstddef>

#include "bench/collectives_speed/operations.h"
#include "bench/collectives_speed/ranks/member.h"

namespace pop::bench::collectives {

/// What a contestant's rank is asked to do.
struct Task {
  Operation operation = Operation::kAllReduce;
  popdist::Type type = popdist::Type::kFloat;
  std::size_t bytes = 0;  // of the whole vector: all blocks together, where ranks have a block each
  int batches = 1;
  const char* variant = "";  // of the contestant: what memory, which algorithm

  /// Elements of the whole vector; at least one for each rank where they have a block each.
  std::size_t elements() const {
    return bytes / popdist::sizeOf(type) > 0 ? bytes / popdist::sizeOf(type) : 1;
  }
};

/// OPERATION TYPE BYTES BATCHES [VARIANT]; what is wrong with them is said on stderr and ends the process.
Task taskFrom(int argc, const char* const* argv);

/// Measures `task`; rank 0 prints the times in microseconds as a series (series.h). A wrong result is said on
/// stderr and ends the process with exit code 1, and so, by its launcher, the job.
void measure(Member& member, const Task& task);

}  // namespace pop::bench::collectives
