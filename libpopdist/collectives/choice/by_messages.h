// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm for an operation by messages, from one table. All ranks of a collective must make the
// same choice, so it may depend only on what all of them know: the request without `rank`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libpopdist/collectives/plan/operation.h"
#include "libpopdist/collectives/plan/plan.h"

namespace popdist::choice {

enum class Algorithm : std::uint8_t {
  kRing,
  kSegmentedRing,
  kRecursiveDoubling,
  kHalvingDoubling,
  kTree,
  kPairwise,
  kDissemination,
  kDirect,  ///< each block straight from who has it to who needs it
};

/// The most scratch memory that a plan takes, however long the vector.
inline constexpr std::size_t kMaxScratchBytes = std::size_t{2} << 20;

/// Elements of a long vector that are worked on at a time, where it goes in segments: half of an L2 cache.
std::size_t segmentCount(std::size_t element_bytes);

struct Request {
  plan::Operation operation =
      plan::Operation::kBarrier;  ///< not kSendRecv, whose requests do not name sender and receiver
  int rank = 0;
  int ranks = 1;
  /// Elements: of the vector (kAllReduce, kReduce, kBroadcast); of one rank's block (all others, where the
  /// vector has `ranks` blocks); ignored by kBarrier.
  std::size_t count = 0;
  int root = 0;  ///< kBroadcast, kReduce, kGather, kScatter
  std::size_t element_bytes = 1;
  bool over_network = false;  ///< some of the ranks are on another host than others
  /// Replaces the table's choice, if it is one of algorithmsOf(operation).
  std::optional<Algorithm> forced{};
};

/// "ring", "recursive-doubling".
const char* nameOf(Algorithm algorithm);

/// All algorithms for an operation; none for kSendRecv.
std::vector<Algorithm> algorithmsOf(plan::Operation operation);

/// The algorithm chosen for a request.
Algorithm algorithmFor(const Request& request);

/// The steps of `request.rank`. At most kMaxScratchBytes of scratch.
plan::Plan planCollective(const Request& request);

}  // namespace popdist::choice
