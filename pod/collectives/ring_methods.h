// SPDX-License-Identifier: Apache-2.0
// Methods along a digit, as phases of a schedule: GCL's along a ring (poplibs, lib/popops/Collectives.cpp,
// January 2021), and one of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "pod/collectives/digits.h"
#include "pod/collectives/schedule.h"

namespace pop::pod {

enum class RingMethod : std::uint8_t {
  kClockwise,          ///< n - 1 rounds, one message a replica
  kAnticlockwise,      ///< the same, the other way
  kBidirectionalPair,  ///< halves go both ways: n - 1 rounds, two messages of half the size
  kMeetInTheMiddle,    ///< whole blocks from both sides: n / 2 rounds, two messages
  kQuadDirectional,    ///< quarters, both ways along the serpent and the mirrored ring: n - 1 rounds
  kDirect,             ///< not GCL's: each part goes from each replica straight to its owner, in one round
};

/// As GCL_OPTIONS spells it: "clockwise_ring", "anticlockwise_ring", "bidirectional_ring_pair",
/// "meet_in_middle_ring", "quad_directional_ring"; and "direct".
std::string_view nameOf(RingMethod method);
/// The method of that name, if there is one.
std::optional<RingMethod> ringMethodNamed(std::string_view name);

/// Fragments that it cuts a block into.
constexpr std::uint32_t fragmentsOf(RingMethod method) {
  if (method == RingMethod::kBidirectionalPair) return 2;
  return method == RingMethod::kQuadDirectional ? 4 : 1;
}

/// A digit and how it is worked along. The replica with digit d owns the d-th part of the block.
struct Stage {
  Digit digit;
  RingMethod method = RingMethod::kClockwise;
};

/// Stages, one after the other, each on the part that the one before has left to a replica. With `replicas`
/// in all: every combination of other digits works at the same time.
Schedule allGather(int replicas, std::span<const Stage> stages);
/// Each replica gets its part of the sum over its group.
Schedule reduceScatter(int replicas, std::span<const Stage> stages);
/// A reduce-scatter `down`, then an all-gather `up`. The two have the same digits, and may have other
/// methods.
Schedule allReduce(int replicas, std::span<const Stage> down, std::span<const Stage> up);
/// Each replica gets its part, by `inside`, of the sum over all: reduce-scatter within groups, all-reduce of
/// parts between them.
Schedule reduceScatterOfAll(int replicas, std::span<const Stage> inside, std::span<const Stage> between);

}  // namespace pop::pod
