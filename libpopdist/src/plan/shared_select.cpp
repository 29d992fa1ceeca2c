// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/shared_select.h"

#include <array>
#include <string_view>

namespace popdist::plan {
namespace {

constexpr std::array kNames{"eager", "staged", "direct"};

constexpr bool reduces(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduceScatter ||
         operation == Operation::kReduce;
}

// Up to so many bytes a rank, one wait and more copying is faster than three waits. Measured by
// bench/collectives.
struct EagerLimit {
  int ranks;  ///< up to so many
  std::size_t fold_bytes;
  std::size_t move_bytes;
};
constexpr std::array kEagerLimits{
    EagerLimit{2, 16 << 10, 64 << 10},
    EagerLimit{4, 16 << 10, 64 << 10},
    EagerLimit{8, 16 << 10, 64 << 10},
    EagerLimit{1 << 30, 8 << 10, 16 << 10},
};

// Beyond the last cache of the machines that this was measured on.
constexpr std::size_t kLastCacheBytes = 32 << 20;

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

SharedAlgorithm selectShared(Operation operation, std::size_t bytes, int ranks) {
  for (const EagerLimit& limit : kEagerLimits) {
    if (ranks > limit.ranks) continue;
    const std::size_t most = reduces(operation) ? limit.fold_bytes : limit.move_bytes;
    return bytes <= most ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
  }
  return SharedAlgorithm::kStaged;
}

StageShape stageShapeFor(Operation, int ranks) {
  const std::size_t slot_bytes = ranks <= 4 ? 256 << 10 : 128 << 10;
  return {slot_bytes, 4};
}

bool pastCaches(Operation operation, std::size_t bytes, int ranks) {
  // What is reduced is read again by whoever imports it.
  return !reduces(operation) && bytes > kLastCacheBytes / static_cast<std::size_t>(ranks);
}

}  // namespace popdist::plan
