// SPDX-License-Identifier: Apache-2.0
// Writes known values to members' memory, and checks the results of operations.
#pragma once

#include "bench/collectives_speed/ranks/member.h"
#include "bench/collectives_speed/ranks/protocol.h"

namespace pop::bench::collectives {

/// The memory of one operation, in elements of the task's type. In-place operations have only `in`.
struct Buffers {
  void* in = nullptr;
  void* out = nullptr;
  std::size_t in_count = 0;
  std::size_t out_count = 0;
  std::size_t block = 0;  // of each rank; where ranks have no blocks: the whole
};

Buffers allocateBuffers(Member& member, const Task& task);

/// Sets every element of both to infinity, which sums leave unchanged. Zeros would be cheaper to store than
/// data.
void fillForTiming(const Buffers& buffers, popdist::Type type);

/// Writes this rank's values to `in`, and other values to `out`.
void fillForCheck(const Buffers& buffers, popdist::Type type, int rank);

/// Checks the result at `result` of one operation with rank 0 as root: ends the process unless every element
/// is right.
void check(const Task& task, const Buffers& buffers, const void* result, int rank, int size);

}  // namespace pop::bench::collectives
