// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/stage_layout.h"

#include <algorithm>
#include <bit>

namespace popdist::plan {

// Each chunk makes ranks wait for each other. It is written and read while it is in a core's own caches,
// where it may stay from call to call; then its lines move between the caches for each write. With four slots
// no rank waits for a slot. Few ranks do best with large slots; four and more all touch a chunk at the same
// time (figures: docs/dev/benchmarks/collectives.md, "Private memory: pulled and staged"). A chunk, even of
// data that moves one way, has a line for each rank, however many there are.
StageLayout stageLayoutFor(int ranks) {
  constexpr std::size_t kRingBytes = 1 << 20;
  const std::size_t few = ranks <= 4 ? 512 << 10 : ranks <= 8 ? 256 << 10 : 128 << 10;
  const std::size_t slot_bytes =
      std::max(few, 2 * std::bit_ceil(kLineBytes * static_cast<std::size_t>(ranks)));
  return {.slots = {slot_bytes, 4}, .ring_bytes = kRingBytes, .eager_bytes = kRingBytes / 4};
}

StageShape chunksOf(Operation operation, const StageShape& slots) {
  constexpr std::size_t kMaxOneWay = 256 << 10;
  switch (operation) {
    case Operation::kBroadcast:
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kSendRecv:
      return {std::min(slots.slot_bytes, std::max(kMaxOneWay, slots.slot_bytes / 2)), slots.slots};
    default:
      return slots;
  }
}

}  // namespace popdist::plan
