// SPDX-License-Identifier: Apache-2.0
// Known values in members' memory, and whether an operation has made of them what it must.
#pragma once

#include "bench/collectives_speed/ranks/member.h"
#include "bench/collectives_speed/ranks/protocol.h"

namespace pop::bench::collectives {

/// Memory of one operation: in elements of the task's type. Operations in place have `in` only.
struct Buffers {
  void* in = nullptr;
  void* out = nullptr;
  std::size_t in_count = 0;
  std::size_t out_count = 0;
  std::size_t block = 0;  // of each rank; where ranks have no blocks: the whole
};

Buffers allocateBuffers(Member& member, const Task& task);

/// Every element of both: infinity, which sums leave as it is. Zeros would be cheaper to store than data.
void fillForTiming(const Buffers& buffers, popdist::Type type);

/// Puts this rank's values into `in`, and something else into `out`.
void fillForCheck(const Buffers& buffers, popdist::Type type, int rank);

/// After one operation, with rank 0 as root, has put its result at `result`: ends the process unless every
/// element is right.
void check(const Task& task, const Buffers& buffers, const void* result, int rank, int size);

}  // namespace pop::bench::collectives
