// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/memory_choice.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

namespace popdist::choice {

using plan::Operation;

// Pulling is worth it, or unknown and allowed.
std::optional<bool> MemoryChoice::canPull(const MemoryCall& call, const shared::Call& shared) {
  if (findsOut(call)) trials_.called(kindOf(call));
  const bool worth_it = forced_ ? *forced_ == SharedAlgorithm::kPull && canBePulled(call.operation)
                                : dependsOnMachine(call.operation, call.largest_bytes, ranks()) &&
                                      trials_.answer(kindOf(call)) != SharedAlgorithm::kStaged;
  if (!worth_it) return false;
  if (!reading_.ask(shared)) return std::nullopt;
  return reading_.allowed();
}

// All ranks choose the same, though each sees only its own buffers before the meeting: ranks that cannot
// offer theirs export first, and ranks that offered in vain export afterwards. Where buffers can be pulled,
// all meet first.
std::optional<MemoryChoice::Chosen> MemoryChoice::choose(const MemoryCall& call, const shared::Call& shared,
                                                         const shared::Buffers& buffers, bool pulls) {
  const std::size_t bytes = call.largest_bytes;
  const bool forced = forced_ && *forced_ != SharedAlgorithm::kPull &&
                      (*forced_ != SharedAlgorithm::kEager || bytes <= eagerBytes());
  const SharedAlgorithm algorithm = forced ? *forced_ : selectShared(call.operation, bytes, ranks());
  const bool eager = algorithm == SharedAlgorithm::kEager;
  const bool stays = forced ? algorithm != SharedAlgorithm::kDirect : bytes < leastDirectBytes(ranks());
  if (stays && !pulls) return Chosen{{algorithm}};
  const SharedAlgorithm otherwise = eager ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
  if (buffers.offer == shared::Offer::kNo && !pulls)
    return Chosen{{otherwise, plan::EagerOrder::kExportFirst}};
  const std::optional<Trials::Kind> kind = pulls ? contestOf(call) : std::nullopt;
  const std::uint64_t word = kind ? trials_.ownWord(*kind) : 0;
  shared::Buffers told = buffers;
  if (kind) told.inline_data = std::as_bytes(std::span(&word, 1));
  if (!meeting_.meet(shared, told)) return std::nullopt;
  if (kind) hear(*kind);
  if (meeting_.anyOffers(shared::Offer::kUnreadable)) return Chosen{{SharedAlgorithm::kStaged}};
  if (meeting_.anyOffers(shared::Offer::kNo)) {
    // Pulling does not support pieces.
    if (pulls && meeting_.anyOffers(shared::Offer::kPieces)) return Chosen{{SharedAlgorithm::kStaged}};
    if (kind) {
      engine_.prepareStages();
      return Chosen{{trials_.next(*kind)}, kind};
    }
    if (pulls) return Chosen{{SharedAlgorithm::kPull}};
    return Chosen{{otherwise, plan::EagerOrder::kMeetFirst}};
  }
  if (!engine_.readPieces(shared) || meeting_.waiter().peerIsAborting()) return std::nullopt;
  return Chosen{{.algorithm = SharedAlgorithm::kDirect, .gives = everyReceiverCanBeGiven(call)}};
}

void MemoryChoice::took(const Chosen& chosen, std::size_t bytes, std::chrono::nanoseconds time) {
  trials_.took(*chosen.trial, chosen.plan.algorithm, bytes, time);
}

// ---- trials

Trials::Kind MemoryChoice::kindOf(const MemoryCall& call) {
  return {call.operation, static_cast<int>(std::bit_width(call.largest_bytes)), call.ragged};
}

// True if calls must find out the algorithm.
bool MemoryChoice::findsOut(const MemoryCall& call) const {
  return !forced_ && dependsOnMachine(call.operation, call.largest_bytes, ranks());
}

// For a call whose algorithm is not known yet.
std::optional<Trials::Kind> MemoryChoice::contestOf(const MemoryCall& call) const {
  const bool open = findsOut(call) && !trials_.answer(kindOf(call));
  return open ? std::optional(kindOf(call)) : std::nullopt;
}

void MemoryChoice::hear(const Trials::Kind& kind) {
  std::uint64_t largest = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    std::uint64_t word = 0;
    std::memcpy(&word, meeting_.data(rank), sizeof(word));
    largest = std::max(largest, word);
  }
  trials_.hear(kind, largest);
}

// All ranks see the same offers.
bool MemoryChoice::everyReceiverCanBeGiven(const MemoryCall& call) const {
  const bool only_root = call.operation == Operation::kGather;
  for (int rank = 0; rank < ranks(); ++rank) {
    if ((!only_root || rank == call.root) && !meeting_.canBeGiven(rank)) return false;
  }
  return true;
}

// ---- sendRecv

SharedAlgorithm MemoryChoice::transfer(std::size_t bytes, bool mapped) const {
  const SharedAlgorithm wanted = forced_.value_or(SharedAlgorithm::kDirect);
  const bool can_be_direct =
      mapped && (wanted == SharedAlgorithm::kDirect || wanted == SharedAlgorithm::kPull);
  if (can_be_direct && (forced_ || bytes >= leastDirectBytes(ranks()))) return SharedAlgorithm::kDirect;
  return bytes <= eagerTransferBytes() ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
}

std::size_t MemoryChoice::eagerTransferBytes() const {
  if (!forced_) return maxEagerBytes(Operation::kSendRecv, ranks());
  return *forced_ == SharedAlgorithm::kEager ? eagerBytes() : 0;
}

bool MemoryChoice::isTransferWorthPulling(std::size_t largest_bytes) const {
  if (forced_) return *forced_ == SharedAlgorithm::kPull;
  return !shared::writingBackPays() && isSendRecvWorthPulling(largest_bytes, ranks());
}

}  // namespace popdist::choice
