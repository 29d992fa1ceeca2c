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

// From so many bytes of a rank on, one copy by the system is faster than two of our own. Likewise.
struct PullLimit {
  int ranks;                     ///< up to so many
  std::size_t spread_bytes;      ///< all-to-all, scatter: all that leaves a rank
  std::size_t transfer_bytes;    ///< sendRecv
  std::size_t gather_bytes;      ///< gather: of each rank
  std::size_t all_gather_bytes;  ///< likewise; what is exported once is imported by all
  std::size_t broadcast_bytes;
};
constexpr std::size_t kNever = SIZE_MAX;
constexpr std::array kPullLimits{
    PullLimit{2, 64 << 10, 64 << 10, 128 << 10, 32 << 10, 128 << 10},
    PullLimit{4, 256 << 10, 64 << 10, 256 << 10, 64 << 10, kNever},
    PullLimit{8, 512 << 10, 256 << 10, 512 << 10, kNever, kNever},
    PullLimit{1 << 30, 1 << 20, 512 << 10, 512 << 10, kNever, kNever},
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

std::size_t leastPullBytes(Operation operation, int ranks) {
  const PullLimit& limit = limitIn(kPullLimits, ranks);
  switch (operation) {
    case Operation::kAllToAll:
    case Operation::kScatter:
      return limit.spread_bytes;
    case Operation::kSendRecv:
      return limit.transfer_bytes;
    case Operation::kGather:
      return limit.gather_bytes;
    case Operation::kAllGather:
      return limit.all_gather_bytes;
    case Operation::kBroadcast:
      return limit.broadcast_bytes;
    default:
      return kNever;
  }
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

// Beyond the caches our own copies are faster than the system's, where they are shared: what is exported once
// goes to many, or many export what goes to one.
bool isWorthPulling(Operation operation, std::size_t bytes, int ranks) {
  const bool shares_copies = operation == Operation::kGather || operation == Operation::kAllGather ||
                             operation == Operation::kBroadcast;
  if (shares_copies && pastCaches(operation, bytes, ranks)) return false;
  return bytes >= leastPullBytes(operation, ranks);
}

bool dependsOnMachine(Operation operation, std::size_t bytes, int ranks) {
  constexpr std::size_t kLeastBytes = 128 << 10;
  return reduces(operation) && canBePulled(operation) && bytes > kLeastBytes &&
         selectShared(operation, bytes, ranks) == SharedAlgorithm::kStaged;
}

// To write to memory that is still in another core's cache costs several times as much as to write to memory
// that has left it. So a rank does not use the same few lines again and again, but goes round in more than a
// core's own caches hold, though in no more than leaves room for the buffers themselves in the last cache, of
// which a machine that is shared has only a part.
StageLayout stageLayoutFor(int ranks) {
  constexpr std::size_t kTogetherBytes = 8 << 20;
  const std::size_t half_bytes = std::clamp<std::size_t>(
      std::bit_floor(kTogetherBytes / static_cast<std::size_t>(ranks)), 1 << 20, 4 << 20);
  const std::size_t slot_bytes = ranks <= 4 ? 256 << 10 : 128 << 10;
  return {.slots = {slot_bytes, half_bytes / slot_bytes},
          .ring_bytes = half_bytes,
          .eager_bytes = half_bytes / 4};
}

bool pastCaches(Operation operation, std::size_t bytes, int ranks) {
  // What is reduced is read again by whoever imports it.
  return !reduces(operation) && bytes > kLastCacheBytes / static_cast<std::size_t>(ranks);
}

}  // namespace popdist::plan
