// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/in_memory.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace popdist::choice {

using plan::EagerOrder;
using plan::Offer;
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
  std::size_t direct_bytes;    ///< from this many bytes on, direct is faster still, where it is possible
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

// Up to these sizes the choice is clear for all machines seen so far: staged.
constexpr std::size_t kLargestClearFold = 128 << 10;
constexpr std::size_t kLargestClearMove = 64 << 10;

const Limits& limitFor(int ranks) {
  return *std::find_if(kLimits.begin(), kLimits.end(),
                       [ranks](const Limits& limits) { return ranks <= limits.ranks; });
}

bool anyIs(Offer offer, std::span<const RankOffer> all) {
  return std::any_of(all.begin(), all.end(), [offer](const RankOffer& each) { return each.offer == offer; });
}

bool everyReceiverCanBeGiven(const MemoryCall& call, std::span<const RankOffer> all) {
  if (call.operation == Operation::kGather) return all[static_cast<std::size_t>(call.root)].can_be_given;
  return std::all_of(all.begin(), all.end(), [](const RankOffer& each) { return each.can_be_given; });
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

std::optional<SharedAlgorithm> MemoryChoice::betterForReadable(const MemoryCall& call) const {
  // One rank gets the whole result of a kReduce: through stages it moves no further.
  const bool can_pull = call.operation != Operation::kReduce;
  if (setting_.forced)
    return can_pull && *setting_.forced == SharedAlgorithm::kPull ? setting_.forced
                                                                  : SharedAlgorithm::kStaged;
  const std::size_t clear = plan::reduces(call.operation) ? kLargestClearFold : kLargestClearMove;
  return can_pull && call.largest_bytes > clear ? std::nullopt : std::optional(SharedAlgorithm::kStaged);
}

bool MemoryChoice::dependsOnOffers(const MemoryCall& call, const Offers& offers) const {
  return offers.pulls || (offers.own != Offer::kNo && mayBeDirect(call));
}

// A rank that knows that its own buffers keep the call from being direct exports before the meeting; one
// that offered its own in vain, after it.
PlanChoice MemoryChoice::choose(const MemoryCall& call, const Offers& offers) const {
  if (!offers.pulls && !mayBeDirect(call)) return {throughStages(call)};
  if (offers.all.empty()) return {throughStages(call), EagerOrder::kExportFirst};
  if (anyIs(Offer::kUnreadable, offers.all)) return {SharedAlgorithm::kStaged};
  if (!anyIs(Offer::kNo, offers.all))
    return {.algorithm = SharedAlgorithm::kDirect, .gives = everyReceiverCanBeGiven(call, offers.all)};
  if (!offers.pulls) return {throughStages(call), EagerOrder::kMeetFirst};
  // Pulling does not support pieces.
  if (anyIs(Offer::kPieces, offers.all)) return {SharedAlgorithm::kStaged};
  return {.algorithm = offers.turn.value_or(SharedAlgorithm::kPull), .is_trial = offers.turn.has_value()};
}

// The forced algorithm, unless it depends on the ranks' buffers or the call is too long for it.
std::optional<SharedAlgorithm> MemoryChoice::forcedFor(const MemoryCall& call) const {
  const bool too_long =
      setting_.forced == SharedAlgorithm::kEager && call.largest_bytes > setting_.eager_bytes;
  return too_long || setting_.forced == SharedAlgorithm::kPull ? std::nullopt : setting_.forced;
}

bool MemoryChoice::mayBeDirect(const MemoryCall& call) const {
  const std::optional<SharedAlgorithm> forced = forcedFor(call);
  return forced ? *forced == SharedAlgorithm::kDirect
                : call.largest_bytes >= limitFor(setting_.ranks).direct_bytes;
}

// The choice where some buffers are private and are not read there.
SharedAlgorithm MemoryChoice::throughStages(const MemoryCall& call) const {
  const Limits& limit = limitFor(setting_.ranks);
  const std::size_t most = plan::reduces(call.operation) ? limit.fold_bytes : limit.move_bytes;
  const std::optional<SharedAlgorithm> forced = forcedFor(call);
  const bool eager = forced ? *forced == SharedAlgorithm::kEager : call.largest_bytes <= most;
  return eager ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
}

// ---- sendRecv

SharedAlgorithm MemoryChoice::transfer(std::size_t bytes, bool mapped) const {
  const SharedAlgorithm wanted = setting_.forced.value_or(SharedAlgorithm::kDirect);
  const bool can_be_direct =
      mapped && (wanted == SharedAlgorithm::kDirect || wanted == SharedAlgorithm::kPull);
  if (can_be_direct && (setting_.forced || bytes >= limitFor(setting_.ranks).direct_bytes))
    return SharedAlgorithm::kDirect;
  return bytes <= eagerTransferBytes() ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
}

std::size_t MemoryChoice::eagerTransferBytes() const {
  if (!setting_.forced) return limitFor(setting_.ranks).transfer_bytes;
  return *setting_.forced == SharedAlgorithm::kEager ? setting_.eager_bytes : 0;
}

bool MemoryChoice::isTransferWorthPulling(std::size_t largest_bytes) const {
  if (setting_.forced) return *setting_.forced == SharedAlgorithm::kPull;
  return !setting_.readers_write_back && largest_bytes >= limitFor(setting_.ranks).pull_bytes;
}

bool pastCaches(Operation operation, std::size_t bytes, int ranks) {
  // Reduced data is read again by the ranks that import it.
  return !plan::reduces(operation) && bytes > kLastCacheBytes / static_cast<std::size_t>(ranks);
}

}  // namespace popdist::choice
