// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/in_memory.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace popdist::choice {

using plan::Operation;

namespace {

constexpr std::array kNames{"eager", "staged", "direct", "pull"};

// In bytes of a rank. Measured by bench/collectives.
struct Limits {
  int ranks;  ///< for at most this many ranks
  // Up to this many bytes, one wait and more copying is faster than three waits.
  std::size_t fold_bytes;
  std::size_t move_bytes;
  std::size_t transfer_bytes;  ///< for sendRecv, which meets before it knows what the others do
  std::size_t direct_bytes;    ///< from this many bytes on, direct is faster still
  std::size_t pull_bytes;  ///< from this many bytes on, one copy by the kernel is faster for sendRecv than
                           ///< two of our own, where readers do not write back
};
constexpr std::array kLimits{
    Limits{2, 512, 2 << 10, 64 << 10, 1 << 10, 64 << 10},
    Limits{4, 8 << 10, 16 << 10, 64 << 10, 8 << 10, 64 << 10},
    Limits{8, 8 << 10, 16 << 10, 64 << 10, 8 << 10, 256 << 10},
    Limits{1 << 30, 8 << 10, 16 << 10, 16 << 10, 8 << 10, 512 << 10},
};

// Beyond the last cache of the machines that this was measured on.
constexpr std::size_t kLastCacheBytes = 32 << 20;

const Limits& limitFor(int ranks) {
  return *std::find_if(kLimits.begin(), kLimits.end(),
                       [ranks](const Limits& limits) { return ranks <= limits.ranks; });
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

std::size_t maxEagerBytes(Operation operation, int ranks) {
  const Limits& limit = limitFor(ranks);
  if (operation == Operation::kSendRecv) return limit.transfer_bytes;
  return plan::reduces(operation) ? limit.fold_bytes : limit.move_bytes;
}

SharedAlgorithm selectShared(Operation operation, std::size_t bytes, int ranks) {
  return bytes <= maxEagerBytes(operation, ranks) ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
}

std::size_t leastDirectBytes(int ranks) {
  return limitFor(ranks).direct_bytes;
}

bool isSendRecvWorthPulling(std::size_t bytes, int ranks) {
  return bytes >= limitFor(ranks).pull_bytes;
}

bool dependsOnMachine(Operation operation, std::size_t bytes, int ranks) {
  const std::size_t min_bytes = plan::reduces(operation) ? 128 << 10 : 64 << 10;
  return canBePulled(operation) && bytes > min_bytes &&
         selectShared(operation, bytes, ranks) == SharedAlgorithm::kStaged;
}

bool pastCaches(Operation operation, std::size_t bytes, int ranks) {
  // Reduced data is read again by the ranks that import it.
  return !plan::reduces(operation) && bytes > kLastCacheBytes / static_cast<std::size_t>(ranks);
}

}  // namespace popdist::choice
