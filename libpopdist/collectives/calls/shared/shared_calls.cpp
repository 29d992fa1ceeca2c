// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/shared/shared_calls.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>

namespace popdist::calls {

using choice::SharedAlgorithm;
using group::CollectiveCall;
using plan::Offer;
using plan::Operation;

namespace {

bool fitsNotes(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kAllGather ||
         operation == Operation::kBroadcast || operation == Operation::kBarrier;
}

shared::Call sharedCallOf(const CollectiveCall& call) {
  return {.key = keyOf(call).packed(), .count = agreedCount(call), .tensor = call.tensor};
}

shared::Buffers buffersOf(const CollectiveCall& call, Offer offer) {
  return {.input = call.input, .output = call.output, .offer = offer, .pieces = call.pieces};
}

}  // namespace

SharedCalls::SharedCalls(shared::Place place, const group::Members& members,
                         std::optional<SharedAlgorithm> forced, transport::PieceUse use)
    : use_(std::move(use)),
      rank_(place.rank),
      ranks_(place.ranks),
      monitor_(members, place.first_rank),
      meeting_(std::move(place), monitor_, members.context().oversubscribed()),
      engine_(meeting_),
      reading_(meeting_, engine_),
      choice_({.ranks = ranks_,
               .eager_bytes = meeting_.place().layout.eager_bytes,
               .readers_write_back = shared::writingBackPays(),
               .forced = forced}),
      send_recv_(meeting_, engine_, reading_, choice_),
      from_(static_cast<std::size_t>(ranks_)),
      offers_(static_cast<std::size_t>(ranks_)),
      plans_(rank_, ranks_, meeting_.place().layout.slots, matrix_) {}

bool SharedCalls::run(const CollectiveCall& call) {
  meeting_.start(call.timeout);
  if (call.operation == Operation::kSendRecv) return runSendRecv(call);
  const shared::Call shared = sharedCallOf(call.whole());
  const std::size_t bytes = call.count * sizeOf(call.type);
  if (bytes <= shared::kInlineBytes && fitsNotes(call.operation) && !call.ragged) {
    return call.pieces == nullptr ? runInline(call, shared) : runInlineInPieces(call, shared);
  }
  if (call.operation == Operation::kAllToAll && call.ragged && !tellCounts(call)) return false;
  return runPlanned(call, shared);
}

bool SharedCalls::runSendRecv(const CollectiveCall& call) {
  const bool well = send_recv_.run(call, sharedCallOf(call));
  taken_ = nameOf(send_recv_.taken());
  return well;
}

// Data that fits into a call slot needs nothing else.
bool SharedCalls::runInline(const CollectiveCall& call, const shared::Call& shared) {
  const std::size_t bytes = call.count * sizeOf(call.type);
  const bool gives = sends(call, rank_);
  taken_ = "inline";
  if (!meeting_.exchange(shared, call.input, gives ? bytes : 0)) return false;
  auto* const output = static_cast<std::byte*>(call.output);
  switch (call.operation) {
    case Operation::kAllReduce: {
      for (int rank = 0; rank < ranks_; ++rank) from_[static_cast<std::size_t>(rank)] = meeting_.data(rank);
      reduce::fold({.op = call.op, .type = call.type, .divisor = static_cast<double>(ranks_)},
                   {&call.output, 1}, from_, call.count);
      return true;
    }
    case Operation::kAllGather:
      for (int rank = 0; rank < ranks_ && bytes > 0; ++rank)
        std::memcpy(output + static_cast<std::size_t>(rank) * bytes, meeting_.data(rank), bytes);
      return true;
    case Operation::kBroadcast:
      if (rank_ != call.root && bytes > 0) std::memcpy(output, meeting_.data(call.root), bytes);
      return true;
    default:
      return true;
  }
}

bool SharedCalls::runInlineInPieces(const CollectiveCall& call, const shared::Call& shared) {
  std::array<std::byte, shared::kInlineBytes> all;
  CollectiveCall whole = call;
  whole.input = whole.output = all.data();
  call.pieces->copyTo(all.data());
  if (!runInline(whole, shared)) return false;
  call.pieces->copyFrom(all.data());
  return true;
}

bool SharedCalls::runPlanned(const CollectiveCall& call, const shared::Call& shared) {
  const choice::MemoryCall asked{call.operation, largestBytes(call), call.root, call.ragged};
  const std::optional<choice::Offers> offers = exchangeOffers(call, shared, asked);
  return offers && carryOut(call, shared, asked, offers->own, choice_.choose(asked, *offers));
}

// The ranks meet here if the choice depends on it, otherwise as they carry out the plan. nullopt: a meeting
// failed.
std::optional<choice::Offers> SharedCalls::exchangeOffers(const CollectiveCall& call,
                                                          const shared::Call& shared,
                                                          const choice::MemoryCall& asked) {
  const auto kind = choice::Trials::Kind::of(asked);
  std::optional<SharedAlgorithm> better = choice_.betterForReadable(asked);
  if (!better) better = trials_.called(kind);
  choice::Offers offers;
  if (better != SharedAlgorithm::kStaged) {
    if (!reading_.ask(shared)) return std::nullopt;
    offers.pulls = reading_.allowed();
  }
  offers.own = offerOf(call, offers.pulls);
  if (!choice_.dependsOnOffers(asked, offers)) return offers;
  const bool on_trial = offers.pulls && !better;
  std::uint64_t word = on_trial ? trials_.ownWord(kind) : 0;
  shared::Buffers told = buffersOf(call, offers.own);
  told.inline_data = std::as_bytes(std::span(&word, 1));
  if (!meeting_.meet(shared, told)) return std::nullopt;
  std::uint64_t largest_word = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    offers_[static_cast<std::size_t>(rank)] = {meeting_.callSlot(rank).offer, meeting_.canBeGiven(rank)};
    std::memcpy(&word, meeting_.data(rank), sizeof(word));
    largest_word = std::max(largest_word, word);
  }
  offers.all = offers_;
  if (!on_trial) return offers;
  trials_.hear(kind, largest_word);
  offers.turn = trials_.next(kind);
  return offers;
}

bool SharedCalls::carryOut(const CollectiveCall& call, const shared::Call& shared,
                           const choice::MemoryCall& asked, plan::Offer own,
                           const choice::PlanChoice& chosen) {
  const SharedAlgorithm algorithm = chosen.algorithm;
  taken_ = nameOf(algorithm);
  if (algorithm == SharedAlgorithm::kDirect &&
      (!engine_.readPieces(shared) || meeting_.waiter().peerIsAborting()))
    return false;
  const shared::Buffers buffers = buffersOf(call, own);
  const reduce::FoldSpec fold{.op = call.op, .type = call.type, .divisor = static_cast<double>(ranks_)};
  const bool streaming =
      algorithm != SharedAlgorithm::kEager && choice::pastCaches(call.operation, asked.largest_bytes, ranks_);
  const bool looks = choice::looksBeforeGivingWay(call.operation, algorithm);
  const auto run = [&](const plan::SharedPlan& plan, bool more) {
    return engine_.run(shared, buffers, {plan, fold, asked.largest_bytes, streaming, more, looks});
  };
  if (!chosen.is_trial) return plans_.carryOut(call, chosen, run);
  engine_.prepareStages();
  const auto begin = std::chrono::steady_clock::now();
  if (!plans_.carryOut(call, chosen, run)) return false;
  trials_.took(choice::Trials::Kind::of(asked), algorithm, asked.largest_bytes,
               std::chrono::steady_clock::now() - begin);
  return true;
}

// A ragged all-to-all begins by exchanging all counts.
bool SharedCalls::tellCounts(const CollectiveCall& call) {
  const auto ranks = static_cast<std::size_t>(ranks_);
  matrix_.assign(ranks * ranks, 0);
  const CollectiveCall counts{.operation = Operation::kAllGather,
                              .input = call.counts.data(),
                              .output = matrix_.data(),
                              .count = ranks,
                              .type = Type::kUint64,
                              .tensor = call.tensor};
  shared::Call shared = sharedCallOf(counts);
  shared.key = keyOf(call).packed();
  if (!runPlanned(counts, shared)) return false;
  for (std::size_t from = 0; from < ranks; ++from) {
    const std::uint64_t sent = matrix_[from * ranks + static_cast<std::size_t>(rank_)];
    if (sent == call.recv_counts[from]) continue;
    const int other = static_cast<int>(from);
    meeting_.blame(other, group::describeCountMismatch(meeting_.nameOf(other), sent, meeting_.nameOf(rank_),
                                                       call.recv_counts[from]));
    return false;
  }
  return true;
}

// ---- the ranks' buffers

// The kernel may be unable to read the memory that other ranks pull, for example that of a device. Nor does
// it know of pieces.
bool SharedCalls::canBeRead(const CollectiveCall& call) const {
  if (call.pieces != nullptr) return false;
  const std::size_t bytes = inputBytes(call);
  return shared::canRead(call.input, bytes) &&
         (call.operation != Operation::kAllReduce || shared::canRead(call.output, bytes));
}

// The offer of this rank.
std::size_t SharedCalls::inputBytes(const CollectiveCall& call) const {
  if (!call.ragged) return largestBytes(call);
  const std::size_t elements = call.operation == Operation::kAllGather
                                   ? call.counts[static_cast<std::size_t>(rank_)]
                                   : std::reduce(call.counts.begin(), call.counts.end());
  return elements * sizeOf(call.type);
}

// Direct needs the inputs of all who give others something, and the outputs that others write to. The root of
// a gather gives them nothing. But one that waits to hear what they offer does not copy its own block
// meanwhile: all in private memory, it does not wait, unless all do, to pull.
Offer SharedCalls::offerOf(const CollectiveCall& call, bool pulls) const {
  const bool is_root = rank_ == call.root;
  const bool written_by_others =
      call.operation == Operation::kAllReduce || (call.operation == Operation::kReduce && is_root);
  const bool only_gathers =
      call.operation == Operation::kGather && is_root && (pulls || meeting_.isMapped(call.output));
  const bool has_nothing = call.ragged && inputBytes(call) == 0;
  if (!sends(call, rank_) || only_gathers || has_nothing) return Offer::kNoMatter;
  if (call.pieces != nullptr && call.pieces->table() != nullptr) return Offer::kPieces;
  const bool mapped = call.pieces == nullptr && meeting_.isMapped(call.input) &&
                      (!written_by_others || meeting_.isMapped(call.output));
  if (mapped) return Offer::kYes;
  return pulls && !canBeRead(call) ? Offer::kUnreadable : Offer::kNo;
}

bool SharedCalls::sends(const CollectiveCall& call, int rank) const {
  const bool only_root = call.operation == Operation::kBroadcast || call.operation == Operation::kScatter;
  return call.operation != Operation::kBarrier && (!only_root || rank == call.root);
}

// The bytes that one rank puts into its stage if all goes at once.
std::size_t SharedCalls::largestBytes(const CollectiveCall& call) const {
  const std::size_t element = sizeOf(call.type);
  const auto ranks = static_cast<std::size_t>(ranks_);
  switch (call.operation) {
    case Operation::kReduceScatter:
    case Operation::kScatter:
      return ranks * call.count * element;
    case Operation::kAllToAll: {
      if (!call.ragged) return ranks * call.count * element;
      std::uint64_t most = 0;
      for (auto row = matrix_.begin(); row != matrix_.end(); row += ranks_)
        most = std::max(most, std::accumulate(row, row + ranks_, std::uint64_t{0}));
      return most * element;
    }
    case Operation::kAllGather:
      if (call.ragged) return *std::max_element(call.counts.begin(), call.counts.end()) * element;
      return call.count * element;
    default:
      return call.count * element;
  }
}

}  // namespace popdist::calls
