// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/shared/engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/src/reduce/copy.h"

namespace popdist::shared {

using plan::Counter;
using plan::SharedStep;
using plan::SharedStepKind;

Engine::Engine(Place place, exec::PeerMonitor& monitor, bool a_core_each, Describe describe)
    : place_(place),
      board_(place.board),
      describe_(std::move(describe)),
      waiter_({.board = place.board,
               .rank = place.rank,
               .first_rank = place.first_rank,
               .monitor = &monitor,
               .a_core_each = a_core_each,
               .describe = [this](int rank) { return whereIs(rank); },
               .absent = [this] { return absentRanks(); }}) {
  from_.reserve(static_cast<std::size_t>(place.ranks));
  to_.reserve(static_cast<std::size_t>(place.ranks) + 1);
}

// ---- meeting

void Engine::begin(const Call& call) {
  if (std::exchange(begun_, true)) return;
  ++call_number_;
  waiter_.start(call.timeout);
}

void Engine::end() {
  begun_ = false;
  met_ = false;
  room_taken_ = false;
}

Note& Engine::ownNote(const Call& call) {
  Note& note = board_.note(place_.rank, parity());
  note.what = call.what;
  note.count = call.count;
  // Most calls have no name; the line where it lies is left alone then.
  if (!call.tensor.empty() || note.tensor.front() != '\0') {
    note.tensor.fill('\0');
    call.tensor.copy(note.tensor.data(), kTensorBytes - 1);
  }
  return note;
}

bool Engine::exchange(const Call& call, const void* data, std::size_t bytes) {
  begin(call);
  Note& note = ownNote(call);
  if (bytes > 0) std::memcpy(note.data.data(), data, bytes);
  end();
  return awaitAll(call);
}

bool Engine::meet(const Call& call, const Buffers& buffers) {
  begin(call);
  Note& note = ownNote(call);
  note.input = offsetOf(buffers.input);
  note.output = offsetOf(buffers.output);
  note.input_address = reinterpret_cast<std::uintptr_t>(buffers.input);
  note.offer = buffers.offer;
  if (!buffers.note.empty()) std::memcpy(note.data.data(), buffers.note.data(), buffers.note.size());
  met_ = true;
  return awaitAll(call);
}

bool Engine::awaitAll(const Call& call) {
  board_.note(place_.rank, parity()).call.store(call_number_, std::memory_order_release);
  waiter_.tell();
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank == place_.rank) continue;
    const Note& theirs = board_.note(rank, parity());
    if (!waiter_.until(theirs.call, call_number_, rank) || !matches(theirs, call, rank)) return false;
  }
  return true;
}

bool Engine::matches(const Note& theirs, const Call& call, int rank) {
  if (theirs.what == call.what && theirs.count == call.count) [[likely]]
    return true;
  const int known_as = place_.first_rank + rank;
  mismatch_ = {
      .status = pop::failedPrecondition("rank " + std::to_string(known_as) + " does not match: it calls " +
                                        describe_(theirs.what, theirs.count, theirs.tensor.data()) +
                                        ", this rank " + describe_(call.what, call.count, call.tensor)),
      .peer_rank = known_as};
  return false;
}

bool Engine::awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) {
  bool ahead = false;
  waiter_.idle([&] { return (ahead = anyoneAhead()) || there(); }, limit);
  return ahead;
}

bool Engine::anyoneAhead() const {
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank != place_.rank && board_.note(rank, parity() ^ 1).call.load() > call_number_) return true;
  }
  return false;
}

bool Engine::stillTogether() {
  return !waiter_.othersHaveGivenUp();
}

std::vector<int> Engine::absentRanks() const {
  std::vector<int> absent;
  for (int rank = 0; rank < place_.ranks; ++rank) {
    const std::uint64_t latest = std::max(board_.note(rank, 0).call.load(), board_.note(rank, 1).call.load());
    if (rank != place_.rank && latest < call_number_) absent.push_back(rank);
  }
  return absent;
}

std::string Engine::whereIs(int rank) const {
  const Note& last =
      board_.note(rank, 0).call >= board_.note(rank, 1).call ? board_.note(rank, 0) : board_.note(rank, 1);
  const std::uint64_t number = last.call.load(std::memory_order_acquire);
  if (number == 0) return "it has made no call yet, this rank is in call " + std::to_string(call_number_);
  return (number < call_number_
              ? "it has not come to call " + std::to_string(call_number_) + "; its last was call "
              : "it is in call ") +
         std::to_string(number) + ", " + describe_(last.what, last.count, last.tensor.data());
}

std::uint64_t Engine::offsetOf(const void* buffer) const {
  const auto* const address = static_cast<const std::byte*>(buffer);
  const bool inside = address >= place_.segment && address < place_.segment + place_.segment_bytes;
  return inside ? static_cast<std::uint64_t>(address - place_.segment) : kPrivate;
}

// ---- steps

bool Engine::run(const Call& call, const Buffers& buffers, const Work& work) {
  const plan::SharedPlan& plan = work.plan;
  buffers_ = buffers;
  spec_ = work.fold;
  streaming_ = work.streaming;
  takeRoom(work);
  begin(call);
  const bool all_well = std::all_of(plan.steps.begin(), plan.steps.end(), [&](const SharedStep& each) {
    return each.kind == SharedStepKind::kMeet ? met_ || meet(call, buffers) : step(each);
  });
  chunks_ += plan.chunks;
  if (!work.more) end();
  return all_well;
}

// Who is in this call has left the one before the last. Its room and that of the last one are apart, wherever
// they lie: neither is more than a quarter of the ring.
void Engine::takeRoom(const Work& work) {
  eager_ = work.plan.eager;
  if (!eager_ || std::exchange(room_taken_, true)) return;
  const plan::StageLayout& layout = place_.layout;
  if (ring_at_ + work.eager_bytes > layout.ring_bytes) ring_at_ = 0;
  eager_at_ = layout.slots.slots * layout.slots.slot_bytes + ring_at_;
  ring_at_ += (work.eager_bytes + kApartBytes - 1) / kApartBytes * kApartBytes;
}

std::byte* Engine::stageOf(int rank, const SharedStep& step) const {
  const plan::StageShape& slots = place_.layout.slots;
  const std::size_t slot = (chunks_ + step.chunk) % slots.slots * slots.slot_bytes;
  return board_.stage(rank) + (eager_ ? eager_at_ : slot) + step.stage;
}

bool Engine::step(const SharedStep& step) {
  const auto* const input = static_cast<const std::byte*>(buffers_.input);
  auto* const output = static_cast<std::byte*>(buffers_.output);
  switch (step.kind) {
    case SharedStepKind::kExport:
      reduce::copyCached(stageOf(place_.rank, step), input + step.input, step.bytes);
      return true;
    case SharedStepKind::kImport:
      copy(output + step.output, stageOf(step.rank, step), step.bytes);
      return true;
    case SharedStepKind::kFetch:
      return fetch(step);
    case SharedStepKind::kGive:
      copy(outputOf(step.rank) + step.output, input + step.input, step.bytes);
      return true;
    case SharedStepKind::kFold:
    case SharedStepKind::kFoldFrom:
      fold(step);
      return true;
    case SharedStepKind::kPost:
      post(step.counter, chunks_ + static_cast<std::uint64_t>(step.value));
      return true;
    case SharedStepKind::kAwait:
      return await(step.counter, static_cast<std::int64_t>(chunks_) + step.value);
    case SharedStepKind::kSettle:
      return settle();
    case SharedStepKind::kConfirm:
      return waiter_.nobodyHasGivenUp();
    case SharedStepKind::kMeet:
      return true;
  }
  return true;
}

bool Engine::fetch(const SharedStep& step) {
  std::byte* const to = static_cast<std::byte*>(buffers_.output) + step.output;
  if (step.rank != place_.rank && !isInputMapped(step.rank))
    return pull(step.rank, step.input, to, step.bytes);
  const std::byte* const from = inputOf(step.rank) + step.input;
  if (from != to) copy(to, from, step.bytes);
  return true;
}

// From private memory: of another process, or of a rank that is a thread of this one.
bool Engine::pull(int rank, std::size_t offset, std::byte* to, std::size_t bytes) {
  const ProcessMark& whose = peers_[static_cast<std::size_t>(rank)];
  const std::uint64_t address = board_.note(rank, parity()).input_address + offset;
  if (isThisProcess(whose)) {
    copy(to, reinterpret_cast<const std::byte*>(address), bytes);  // NOLINT(performance-no-int-to-ptr)
    return true;
  }
  const pop::Status read = readFrom(whose, address, to, bytes);
  if (read.ok()) return true;
  waiter_.lose(rank,
               pop::unavailable(read.message() + "; POPDIST_SHARED_ALGORITHM=staged does without reading"));
  return false;
}

void Engine::post(Counter counter, std::uint64_t value) {
  board_.counter(place_.rank, counter).store(value, std::memory_order_release);
  waiter_.tell();
}

bool Engine::await(Counter counter, std::int64_t value) {
  for (int rank = 0; rank < place_.ranks && value > 0; ++rank) {
    if (rank == place_.rank) continue;
    if (!waiter_.until(board_.counter(rank, counter), static_cast<std::uint64_t>(value), rank)) return false;
  }
  return true;
}

bool Engine::settle() {
  ++settles_;
  if (!anyOffers(Offer::kYes)) return true;
  post(Counter::kSettled, settles_);
  return await(Counter::kSettled, static_cast<std::int64_t>(settles_));
}

bool Engine::anyOffers(Offer offer) const {
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (board_.note(rank, parity()).offer == offer) return true;
  }
  return false;
}

void Engine::fold(const SharedStep& step) {
  const bool direct = step.kind == SharedStepKind::kFoldFrom;
  from_.clear();
  to_.clear();
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank == place_.rank)
      from_.push_back(static_cast<const std::byte*>(buffers_.input) + step.input);
    else
      from_.push_back(direct ? inputOf(rank) + step.input : stageOf(rank, step));
    if ((step.targets & plan::kAllOutputs) != 0) to_.push_back(outputOf(rank) + step.output);
  }
  if ((step.targets & plan::kOwnOutput) != 0)
    to_.push_back(static_cast<std::byte*>(buffers_.output) + step.output);
  if ((step.targets & plan::kOwnStage) != 0) to_.push_back(stageOf(place_.rank, step));
  if ((step.targets & plan::kRankOutput) != 0) to_.push_back(outputOf(step.rank) + step.output);
  reduce::FoldSpec spec = spec_;
  spec.streaming = streaming_ && direct && to_.front() != from_.front();
  reduce::fold(spec, to_, from_, step.bytes / sizeOf(spec.type));
}

void Engine::copy(void* to, const void* from, std::size_t bytes) const {
  if (streaming_)
    reduce::copyStreaming(to, from, bytes);
  else
    reduce::copyCached(to, from, bytes);
}

const std::byte* Engine::inputOf(int rank) const {
  if (rank == place_.rank) return static_cast<const std::byte*>(buffers_.input);
  return place_.segment + board_.note(rank, parity()).input;
}

std::byte* Engine::outputOf(int rank) const {
  if (rank == place_.rank) return static_cast<std::byte*>(buffers_.output);
  return place_.segment + board_.note(rank, parity()).output;
}

// ---- failures

exec::Failure Engine::takeFailure() {
  return giveUp(mismatch_.status.ok() ? waiter_.failure() : mismatch_);
}

exec::Failure Engine::giveUp(exec::Failure failure) {
  Surrender& surrender = board_.surrender();
  std::uint32_t nobody = 0;
  if (surrender.raised.compare_exchange_strong(nobody, 1)) {
    surrender.rank = place_.first_rank + place_.rank;
    surrender.instance = failure.peer_instance;
    surrender.blamed_rank = failure.peer_rank;
    surrender.code = static_cast<std::int32_t>(failure.status.code());
    surrender.heard = failure.heard ? 1 : 0;
    const std::string& text = failure.status.message();
    const std::size_t length = std::min(text.size(), surrender.text.size() - 1);
    std::memcpy(surrender.text.data(), text.data(), length);
    surrender.text[length] = '\0';
    surrender.raised.store(2, std::memory_order_release);
  }
  waiter_.tell();
  return failure;
}

}  // namespace popdist::shared
