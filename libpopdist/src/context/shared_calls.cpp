// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/shared_calls.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

namespace popdist::context {

using plan::Operation;
using plan::SharedAlgorithm;

namespace {

bool fitsNotes(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kAllGather ||
         operation == Operation::kBroadcast || operation == Operation::kBarrier;
}

shared::Call sharedCallOf(const CollectiveCall& call) {
  return {.key = keyOf(call).packed(), .count = agreedCount(call), .tensor = call.tensor};
}

}  // namespace

SharedCalls::SharedCalls(shared::Engine::Place place, exec::PeerMonitor& monitor, bool oversubscribed,
                         std::optional<Algorithm> forced)
    : rank_(place.rank),
      ranks_(place.ranks),
      layout_(place.layout),
      forced_(forced),
      engine_(std::move(place), monitor, oversubscribed),
      reading_(engine_, ranks_),
      send_recv_(engine_, reading_, {rank_, ranks_, layout_}, forced),
      plans_(rank_, ranks_, layout_.slots, matrix_) {}

bool SharedCalls::run(const CollectiveCall& call, const CollectiveCall& whole) try {
  engine_.start(call.timeout);
  if (call.operation == Operation::kSendRecv) return runSendRecv(call);
  const shared::Call shared = sharedCallOf(whole);
  const std::size_t bytes = call.count * sizeOf(call.type);
  if (bytes <= shared::kInlineBytes && fitsNotes(call.operation) && !call.ragged) {
    return call.pieces == nullptr ? runInline(call, shared) : runInlineInPieces(call, shared);
  }
  if (call.operation == Operation::kAllToAll && call.ragged && !tellCounts(call)) return false;
  return runPlanned(call, shared);
} catch (const std::bad_alloc&) {
  own_failure_ = {{pop::Code::kResourceExhausted, "out of memory"}};
  return false;
}

bool SharedCalls::runSendRecv(const CollectiveCall& call) {
  const bool well = send_recv_.run(call, sharedCallOf(call), own_failure_);
  taken_ = plan::nameOf(send_recv_.taken());
  return well;
}

// What fits into a note needs no more than notes.
bool SharedCalls::runInline(const CollectiveCall& call, const shared::Call& shared) {
  const std::size_t bytes = call.count * sizeOf(call.type);
  const bool gives = sends(call, rank_);
  taken_ = "notes";
  if (!engine_.exchange(shared, call.input, gives ? bytes : 0)) return false;
  auto* const output = static_cast<std::byte*>(call.output);
  switch (call.operation) {
    case Operation::kAllReduce: {
      constexpr std::size_t kFew = 16;
      std::array<const void*, kFew> few;
      std::vector<const void*> many;
      const auto ranks = static_cast<std::size_t>(ranks_);
      if (ranks > kFew) many.resize(ranks);
      const std::span<const void*> from = ranks > kFew ? std::span(many) : std::span(few).first(ranks);
      for (int rank = 0; rank < ranks_; ++rank) from[static_cast<std::size_t>(rank)] = engine_.data(rank);
      reduce::fold({.op = call.op, .type = call.type, .divisor = static_cast<double>(ranks_)},
                   {&call.output, 1}, from, call.count);
      return true;
    }
    case Operation::kAllGather:
      for (int rank = 0; rank < ranks_ && bytes > 0; ++rank)
        std::memcpy(output + static_cast<std::size_t>(rank) * bytes, engine_.data(rank), bytes);
      return true;
    case Operation::kBroadcast:
      if (rank_ != call.root && bytes > 0) std::memcpy(output, engine_.data(call.root), bytes);
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
  if (findsOut(call)) trials_.called(kindOf(call));
  const std::optional<bool> pulls = canPull(call, shared);
  if (!pulls) return false;
  const shared::Buffers buffers{
      .input = call.input, .output = call.output, .offer = offerOf(call, *pulls), .pieces = call.pieces};
  const std::optional<Choice> choice = choose(call, shared, buffers, *pulls);
  if (!choice) return false;
  const Algorithm algorithm = choice->plan.algorithm;
  taken_ = plan::nameOf(algorithm);
  const reduce::FoldSpec fold{.op = call.op, .type = call.type, .divisor = static_cast<double>(ranks_)};
  const std::size_t largest = largestBytes(call);
  const bool streaming =
      algorithm != SharedAlgorithm::kEager && plan::pastCaches(call.operation, largest, ranks_);
  const bool looks = plan::looksBeforeGivingWay(call.operation, algorithm);
  const auto run = [&](const plan::SharedPlan& plan, bool more) {
    return engine_.run(shared, buffers, {plan, fold, largest, streaming, more, looks});
  };
  if (!choice->trial) return plans_.carryOut(call, choice->plan, run);
  const auto begin = std::chrono::steady_clock::now();
  if (!plans_.carryOut(call, choice->plan, run)) return false;
  trials_.took(*choice->trial, algorithm, largest, std::chrono::steady_clock::now() - begin);
  return true;
}

// A ragged all-to-all begins with everybody's counts for everybody.
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
    own_failure_ = {.status = pop::failedPrecondition(
                        countsContradict(static_cast<int>(from), sent, call.recv_counts[from])),
                    .peer_rank = static_cast<int>(from)};
    return false;
  }
  return true;
}

// ---- which way

// The same on all ranks, though each sees only its own buffers before the meeting: who cannot offer them
// exports first, and whoever has hoped in vain exports then. Where they can be pulled, all meet first.
std::optional<SharedCalls::Choice> SharedCalls::choose(const CollectiveCall& call, const shared::Call& shared,
                                                       const shared::Buffers& buffers, bool pulls) {
  const std::size_t bytes = largestBytes(call);
  const bool forced = forced_ && *forced_ != SharedAlgorithm::kPull &&
                      (*forced_ != SharedAlgorithm::kEager || bytes <= layout_.eager_bytes);
  const Algorithm algorithm = forced ? *forced_ : plan::selectShared(call.operation, bytes, ranks_);
  const bool eager = algorithm == SharedAlgorithm::kEager;
  const bool stays = forced ? algorithm != SharedAlgorithm::kDirect : bytes < plan::leastDirectBytes(ranks_);
  if (stays && !pulls) return Choice{{algorithm}};
  const Algorithm otherwise = eager ? SharedAlgorithm::kEager : SharedAlgorithm::kStaged;
  if (buffers.offer == shared::Offer::kNo && !pulls)
    return Choice{{otherwise, plan::EagerOrder::kExportFirst}};
  const std::optional<Trials::Kind> kind = pulls ? contestOf(call) : std::nullopt;
  const std::uint64_t word = kind ? trials_.ownWord(*kind) : 0;
  shared::Buffers told = buffers;
  if (kind) told.note = std::as_bytes(std::span(&word, 1));
  if (!engine_.meet(shared, told)) return std::nullopt;
  if (kind) hear(*kind);
  if (engine_.anyOffers(shared::Offer::kUnreadable)) return Choice{{SharedAlgorithm::kStaged}};
  if (engine_.anyOffers(shared::Offer::kNo)) {
    // Who pulls knows nothing of pieces.
    if (pulls && engine_.anyOffers(shared::Offer::kPieces)) return Choice{{SharedAlgorithm::kStaged}};
    if (kind) {
      engine_.prepareStages();
      return Choice{{trials_.next(*kind)}, kind};
    }
    if (pulls) return Choice{{SharedAlgorithm::kPull}};
    return Choice{{otherwise, plan::EagerOrder::kMeetFirst}};
  }
  if (!engine_.readPieces(shared) || engine_.peerIsGivingUp()) return std::nullopt;
  return Choice{{.algorithm = SharedAlgorithm::kDirect, .gives = everyReceiverCanBeGiven(call)}};
}

// Worth it, or to be found out, and allowed. nullopt: the engine has failed.
std::optional<bool> SharedCalls::canPull(const CollectiveCall& call, const shared::Call& shared) {
  const bool worth_it = forced_ ? *forced_ == SharedAlgorithm::kPull && plan::canBePulled(call.operation)
                                : plan::dependsOnMachine(call.operation, largestBytes(call), ranks_) &&
                                      trials_.answer(kindOf(call)) != SharedAlgorithm::kStaged;
  if (!worth_it) return false;
  if (!reading_.ask(shared)) return std::nullopt;
  return reading_.allowed();
}

// What others take may lie in memory that the system cannot read for them: that of devices, for one. Or in
// pieces, of which it knows nothing.
bool SharedCalls::canBeRead(const CollectiveCall& call) const {
  if (call.pieces != nullptr) return false;
  const std::size_t bytes = inputBytes(call);
  return shared::canRead(call.input, bytes) &&
         (call.operation != Operation::kAllReduce || shared::canRead(call.output, bytes));
}

// Of this rank.
std::size_t SharedCalls::inputBytes(const CollectiveCall& call) const {
  if (!call.ragged) return largestBytes(call);
  const std::size_t elements = call.operation == Operation::kAllGather
                                   ? call.counts[static_cast<std::size_t>(rank_)]
                                   : std::reduce(call.counts.begin(), call.counts.end());
  return elements * sizeOf(call.type);
}

Trials::Kind SharedCalls::kindOf(const CollectiveCall& call) const {
  return {call.operation, static_cast<int>(std::bit_width(largestBytes(call))), call.ragged};
}

// Whether no table knows its way.
bool SharedCalls::findsOut(const CollectiveCall& call) const {
  return !forced_ && plan::dependsOnMachine(call.operation, largestBytes(call), ranks_);
}

// Of a call whose way is still to be found out.
std::optional<Trials::Kind> SharedCalls::contestOf(const CollectiveCall& call) const {
  const bool open = findsOut(call) && !trials_.answer(kindOf(call));
  return open ? std::optional(kindOf(call)) : std::nullopt;
}

void SharedCalls::hear(const Trials::Kind& kind) {
  std::uint64_t largest = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    std::uint64_t word = 0;
    std::memcpy(&word, engine_.data(rank), sizeof(word));
    largest = std::max(largest, word);
  }
  trials_.hear(kind, largest);
}

// They all see the same.
bool SharedCalls::everyReceiverCanBeGiven(const CollectiveCall& call) const {
  const bool only_root = call.operation == Operation::kGather;
  for (int rank = 0; rank < ranks_; ++rank) {
    if ((!only_root || rank == call.root) && !engine_.canBeGiven(rank)) return false;
  }
  return true;
}

// Direct needs the inputs of all who give others something, and the outputs that others write to. The root of
// a gather gives them nothing. But one that waits to hear what they offer does not copy its own block
// meanwhile: all in private memory, it does not wait, unless all do, to pull.
shared::Offer SharedCalls::offerOf(const CollectiveCall& call, bool pulls) const {
  const bool is_root = rank_ == call.root;
  const bool written_by_others =
      call.operation == Operation::kAllReduce || (call.operation == Operation::kReduce && is_root);
  const bool only_gathers =
      call.operation == Operation::kGather && is_root && (pulls || engine_.isMapped(call.output));
  const bool has_nothing = call.ragged && inputBytes(call) == 0;
  if (!sends(call, rank_) || only_gathers || has_nothing) return shared::Offer::kNoMatter;
  if (call.pieces != nullptr && call.pieces->table() != nullptr) return shared::Offer::kPieces;
  const bool mapped = call.pieces == nullptr && engine_.isMapped(call.input) &&
                      (!written_by_others || engine_.isMapped(call.output));
  if (mapped) return shared::Offer::kYes;
  return pulls && !canBeRead(call) ? shared::Offer::kUnreadable : shared::Offer::kNo;
}

bool SharedCalls::sends(const CollectiveCall& call, int rank) const {
  const bool only_root = call.operation == Operation::kBroadcast || call.operation == Operation::kScatter;
  return call.operation != Operation::kBarrier && (!only_root || rank == call.root);
}

// That one rank puts into its stage if all goes at once.
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

}  // namespace popdist::context
