// SPDX-License-Identifier: Apache-2.0
// Buddy blocks: a partition's IPUs in an ILD are 2^k neighbours, the first of which is a multiple of 2^k.
// Blocks are computed from the free IPUs each time; there are no lists of them that could go wrong.
#pragma once

#include <compare>
#include <optional>
#include <span>

#include "popdistd/partitions/cluster.h"

namespace pop::vipu {

/// The same block in `segments` neighbouring ILDs.
struct BlockPlace {
  int first_ild = 0;
  int segments = 1;
  int first_ipu = 0;
  int ipus = 1;  ///< in each segment

  friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

struct BlockFit {
  int taken_from = 0;  ///< IPUs of the whole free block that it is cut out of: the fewer the better
  BlockPlace place;
};

/// Places `segments` blocks of `ipus` IPUs: in the smallest free block that they fit into, and of several in
/// the first by ILD and IPU. Nothing if there is none. `ipus` is a power of two up to kMaxIldIpus. Over
/// several segments a block is free if it is free in each of them.
std::optional<BlockFit> bestFit(std::span<const IpuMask> free, int segments, int ipus);

/// IPUs of the largest block that is free in `segments` neighbouring ILDs; 0 if none is.
int largestBlock(std::span<const IpuMask> free, int segments = 1);

int countIpus(std::span<const IpuMask> ipus);

/// The fragmentation of free IPUs in ILDs with `ild_ipus` IPUs: 0 if the largest free block is as large as so
/// many free IPUs can make it, near 1 if it is much smaller. 0 if none is free.
double fragmentation(std::span<const IpuMask> free, int ild_ipus);

}  // namespace pop::vipu
