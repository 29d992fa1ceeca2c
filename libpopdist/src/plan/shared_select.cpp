// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/shared_select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace popdist::plan {
namespace {

constexpr std::array kNames{"eager", "staged", "direct", "pull"};

// Up to so many bytes a rank, one wait and more copying is faster than three waits. Measured by
// bench/collectives.
struct EagerLimit {
  int ranks;  ///< up to so many
  std::size_t fold_bytes;
  std::size_t move_bytes;
  std::size_t direct_bytes;  ///< from so many on, direct is faster still
};
constexpr std::array kEagerLimits{
    EagerLimit{2, 128 << 10, 64 << 10, 4 << 10},
    EagerLimit{4, 16 << 10, 64 << 10, 8 << 10},
    EagerLimit{8, 16 << 10, 64 << 10, 8 << 10},
    EagerLimit{1 << 30, 8 << 10, 16 << 10, 8 << 10},
};

// From so many bytes of a rank on, sendRecv is faster by one copy of the system's than by two of our own.
// Likewise.
struct TransferLimit {
  int ranks;  ///< up to so many
  std::size_t bytes;
};
constexpr std::array kTransferLimits{
    TransferLimit{4, 64 << 10},
    TransferLimit{8, 256 << 10},
    TransferLimit{1 << 30, 512 << 10},
};

// Beyond the last cache of the machines that this was measured on.
constexpr std::size_t kLastCacheBytes = 32 << 20;

template <typename Limits>
const auto& limitIn(const Limits& limits, int ranks) {
  return *std::find_if(limits.begin(), limits.end(),
                       [ranks](const auto& limit) { return ranks <= limit.ranks; });
}

const EagerLimit& limitFor(int ranks) {
  return limitIn(kEagerLimits, ranks);
}

}  // namespace

const char* nameOf(SharedAlgorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::optional<SharedAlgorithm> sharedAlgorithmNamed(const char* name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (std::string_view(name) == kNames[i]) return static_cast<SharedAlgorithm>(i);
  }
  return std::nullopt;
}

std::size_t mostEagerBytes(Operation operation, int ranks) {
  const EagerLimit& limit = limitFor(ranks);
  return reduces(operation) ? limit.fold_bytes : limit.move_bytes;
}

SharedAlgorithm selectShared(Operation operation, std::size_t bytes, int ranks) {
  return bytes <= mostEagerBytes(operation, ranks) ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
}

std::size_t leastDirectBytes(int ranks) {
  return limitFor(ranks).direct_bytes;
}

bool isWorthPulling(std::size_t bytes, int ranks) {
  return bytes >= limitIn(kTransferLimits, ranks).bytes;
}

bool dependsOnMachine(Operation operation, std::size_t bytes, int ranks) {
  const std::size_t least_bytes = reduces(operation) ? 128 << 10 : 64 << 10;
  return canBePulled(operation) && bytes > least_bytes &&
         selectShared(operation, bytes, ranks) == SharedAlgorithm::kStaged;
}

// To write to memory that is still in another core's cache costs several times as much as to write to memory
// that has left it. So a rank does not use the same few lines again and again, but goes round in more than a
// core's own caches hold, though in no more than leaves room for the buffers themselves in the last cache, of
// which a machine that is shared has only a part.
//
// Each chunk makes ranks wait for each other. Two do best with few large ones; four and more all touch a
// chunk at the same time, and it should fit a core's own cache (figures: docs/benchmarks.md, "Private memory:
// pulled and staged").
StageLayout stageLayoutFor(int ranks) {
  constexpr std::size_t kTogetherBytes = 8 << 20;
  const std::size_t half_bytes = std::clamp<std::size_t>(
      std::bit_floor(kTogetherBytes / static_cast<std::size_t>(ranks)), 1 << 20, 4 << 20);
  const std::size_t slot_bytes = ranks <= 2 ? 1 << 20 : ranks <= 8 ? 256 << 10 : 128 << 10;
  return {.slots = {slot_bytes, half_bytes / slot_bytes},
          .ring_bytes = half_bytes,
          .eager_bytes = half_bytes / 4};
}

StageShape chunksOf(Operation operation, const StageShape& slots) {
  constexpr std::size_t kMostOneWay = 256 << 10;
  switch (operation) {
    case Operation::kBroadcast:
    case Operation::kGather:
    case Operation::kScatter:
    case Operation::kSendRecv:
      return {std::min(slots.slot_bytes, kMostOneWay), slots.slots};
    default:
      return slots;
  }
}

bool pastCaches(Operation operation, std::size_t bytes, int ranks) {
  // What is reduced is read again by whoever imports it.
  return !reduces(operation) && bytes > kLastCacheBytes / static_cast<std::size_t>(ranks);
}

}  // namespace popdist::plan
