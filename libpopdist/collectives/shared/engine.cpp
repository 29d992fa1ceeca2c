// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/engine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/collectives/reduce/copy.h"

namespace popdist::shared {

using plan::Counter;
using plan::SharedStep;
using plan::SharedStepKind;

namespace {

// Limits for pulled data, over all ranks and for one rank: it stays in a core's own caches until it is
// reduced.
constexpr std::size_t kPulledBytes = 512 << 10;
constexpr std::size_t kMinPieceBytes = 16 << 10;

}  // namespace

Engine::Engine(Meeting& meeting) : meeting_(meeting) {
  from_.reserve(static_cast<std::size_t>(meeting_.place().ranks));
  to_.reserve(static_cast<std::size_t>(meeting_.place().ranks) + 1);
}

// ---- steps

bool Engine::run(const Call& call, const Buffers& buffers, const Work& work) {
  const plan::SharedPlan& plan = work.plan;
  buffers_ = buffers;
  spec_ = work.fold;
  streaming_ = work.streaming;
  eager_ = plan.eager;
  if (!work.looks) waiter().yieldAtOnce();
  if (eager_) takeRoom(work.eager_bytes);
  meeting_.begin();
  const bool all_well = std::all_of(plan.steps.begin(), plan.steps.end(), [&](const SharedStep& each) {
    return each.kind == SharedStepKind::kMeet ? meeting_.hasMet() || meeting_.meet(call, buffers)
                                              : step(each);
  });
  chunks_ += plan.chunks;
  if (!work.more) {
    meeting_.end();
    room_.reset();
    listed_.clear();
  }
  return all_well;
}

// A rank in this call has left the one before the last. The room of this call and that of the last one never
// overlap, wherever they lie: neither is more than a quarter of the ring.
void Engine::takeRoom(std::size_t bytes) {
  if (room_) return;
  const plan::StageLayout& layout = place().layout;
  if (ring_at_ + bytes > layout.ring_bytes) ring_at_ = 0;
  room_ = layout.slots.slots * layout.slots.slot_bytes + ring_at_;
  ring_at_ += (bytes + kApartBytes - 1) / kApartBytes * kApartBytes;
}

void Engine::prepareStages() {
  if (std::exchange(stages_prepared_, true)) return;
  const plan::StageShape& slots = place().layout.slots;
  // Older kernels lack this; there the pages are made when they are first written to.
  for (int rank = 0; rank < place().ranks; ++rank)
    ::madvise(place().control_block.stage(rank), slots.slots * slots.slot_bytes, MADV_POPULATE_WRITE);
}

std::byte* Engine::stageOf(int rank, const SharedStep& step) const {
  const plan::StageShape& slots = place().layout.slots;
  const std::size_t slot = (chunks_ + step.chunk) % slots.slots * slots.slot_bytes;
  return place().control_block.stage(rank) + (eager_ ? *room_ : slot) + step.stage;
}

// A buffer of this rank, whether in one piece or in several.
template <typename Byte, typename Visit>
void Engine::inOwnMemory(Byte* buffer, std::size_t offset, std::size_t bytes, const Visit& visit) const {
  if (buffers_.pieces != nullptr) return buffers_.pieces->within(offset, bytes, visit);
  visit(buffer + offset, std::size_t{0}, bytes);
}

bool Engine::step(const SharedStep& step) {
  const auto* const input = static_cast<const std::byte*>(buffers_.input);
  auto* const output = static_cast<std::byte*>(buffers_.output);
  switch (step.kind) {
    case SharedStepKind::kExport:
      inOwnMemory(
          input, step.input, step.bytes,
          [to = stageOf(place().rank, step)](const std::byte* from, std::size_t done, std::size_t bytes) {
            reduce::copyCached(to + done, from, bytes);
          });
      return true;
    case SharedStepKind::kImport:
      inOwnMemory(output, step.output, step.bytes,
                  [&, from = stageOf(step.rank, step)](std::byte* to, std::size_t done, std::size_t bytes) {
                    takeFromStage(step.rank, to, from + done, bytes);
                  });
      return true;
    case SharedStepKind::kFetch:
      return fetch(step);
    case SharedStepKind::kGive:
      return inOthersMemory(step, [&](const SharedStep& part) {
        copy(outputOf(part.rank) + part.output, input + part.input, part.bytes);
      });
    case SharedStepKind::kTake:
      return take(step);
    case SharedStepKind::kFoldFrom:
      if (!allInputsMapped()) return foldPulled(step);
      return inOthersMemory(step, [&](const SharedStep& part) { fold(part); });
    case SharedStepKind::kFold:
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
      return !waiter().peerIsAborting();
    case SharedStepKind::kMeet:
      return true;
  }
  return true;
}

// The lines of the own stage have already been written by the other ranks, with their results. Even beyond
// the last cache, writing back is worth more than streaming.
void Engine::takeFromStage(int rank, std::byte* to, std::byte* stage, std::size_t bytes) const {
  if (writes_back_ && rank != place().rank)
    reduce::copyWritingBack(to, stage, bytes);
  else
    copy(to, stage, bytes);
}

// A rank that has aborted the call has its buffers back and may use them for something else.
template <typename Write>
bool Engine::inOthersMemory(const SharedStep& step, const Write& write) {
  for (std::size_t done = 0; done < step.bytes; done += kBetweenLooksBytes) {
    if (waiter().peerIsAborting()) return false;
    SharedStep part = step;
    part.input += done;
    part.output += done;
    part.bytes = std::min(kBetweenLooksBytes, step.bytes - done);
    write(part);
  }
  return true;
}

bool Engine::fetch(const SharedStep& step) {
  std::byte* const to = static_cast<std::byte*>(buffers_.output) + step.output;
  if (step.rank != place().rank && !meeting_.isInputMapped(step.rank))
    return pull(step.rank, meeting_.callSlot(step.rank).input_address + step.input, to, step.bytes);
  const std::byte* const from = inputOf(step.rank) + step.input;
  if (from != to) copy(to, from, step.bytes);
  return true;
}

// Reads private memory, of another process or of a rank that is a thread of this one.
bool Engine::pull(int rank, std::uint64_t address, std::byte* to, std::size_t bytes) {
  const ProcessMark& whose = peers_[static_cast<std::size_t>(rank)];
  if (isThisProcess(whose)) {
    copy(to, reinterpret_cast<const std::byte*>(address), bytes);  // NOLINT(performance-no-int-to-ptr)
    return true;
  }
  const pop::Status read = readFrom(whose, address, to, bytes);
  if (read.ok()) return true;
  waiter().lose(rank,
                pop::unavailable(read.message() + "; POPDIST_SHARED_ALGORITHM=staged needs no such access"));
  return false;
}

void Engine::post(Counter counter, std::uint64_t value) {
  place().control_block.counter(place().rank, counter).store(value, std::memory_order_release);
  waiter().wakeSleepers();
}

bool Engine::await(Counter counter, std::int64_t value) {
  if (value <= 0) return true;
  waiter().yieldCore(
      place().ranks, static_cast<std::uint64_t>(value), [&](int rank) -> auto& {
        return place().control_block.counter(rank, counter);
      });
  for (int rank = 0; rank < place().ranks; ++rank) {
    if (rank == place().rank) continue;
    if (!waiter().until(place().control_block.counter(rank, counter), static_cast<std::uint64_t>(value),
                        rank))
      return false;
  }
  return true;
}

bool Engine::settle() {
  ++settles_;
  if (!meeting_.anyOffers(Offer::kYes) && !meeting_.anyOffers(Offer::kPieces)) return true;
  post(Counter::kSettled, settles_);
  return await(Counter::kSettled, static_cast<std::int64_t>(settles_));
}

bool Engine::take(const SharedStep& step) {
  std::byte* const to = static_cast<std::byte*>(buffers_.output) + step.output;
  if (meeting_.canBeGiven(step.rank)) {
    copy(to, outputOf(step.rank) + step.input, step.bytes);
    return true;
  }
  return pull(step.rank, meeting_.callSlot(step.rank).output_address + step.input, to, step.bytes);
}

bool Engine::allInputsMapped() const {
  for (int rank = 0; rank < place().ranks; ++rank) {
    if (rank != place().rank && !meeting_.isInputMapped(rank)) return false;
  }
  return true;
}

// Reduces piece by piece, in memory that stays in the caches. Each rank begins with another rank's input.
bool Engine::foldPulled(const SharedStep& step) {
  const auto ranks = static_cast<std::size_t>(place().ranks);
  const std::size_t most = std::max(kMinPieceBytes, kPulledBytes / ranks / kApartBytes * kApartBytes);
  const std::size_t apart = most + kApartBytes;  // otherwise all pieces have the same place in their pages
  pulled_.resize(kApartBytes + apart * ranks);
  std::byte* const room =
      pulled_.data() + (0 - reinterpret_cast<std::uintptr_t>(pulled_.data())) % kApartBytes;
  from_.resize(ranks);
  for (std::size_t done = 0; done < step.bytes; done += most) {
    const std::size_t bytes = std::min(most, step.bytes - done);
    for (int distance = 0; distance < place().ranks; ++distance) {
      const int rank = (place().rank + distance) % place().ranks;
      const void*& from = from_[static_cast<std::size_t>(rank)];
      if (distance == 0 || meeting_.isInputMapped(rank)) {
        from = inputOf(rank) + step.input + done;
        continue;
      }
      std::byte* const to = room + static_cast<std::size_t>(rank) * apart;
      if (!pull(rank, meeting_.callSlot(rank).input_address + step.input + done, to, bytes)) return false;
      from = to;
    }
    to_.assign({static_cast<std::byte*>(buffers_.output) + step.output + done});
    reduce::fold(spec_, to_, from_, bytes / sizeOf(spec_.type));
  }
  return true;
}

void Engine::fold(const SharedStep& step) {
  const auto* const input = static_cast<const std::byte*>(buffers_.input);
  auto* const output = static_cast<std::byte*>(buffers_.output);
  if (step.kind == SharedStepKind::kFoldFrom && !listed_.empty()) return foldListed(step);
  if (buffers_.pieces == nullptr) return foldRun(step, input + step.input, output + step.output);
  buffers_.pieces->within(step.input, step.bytes, [&](std::byte* data, std::size_t done, std::size_t bytes) {
    SharedStep run = step;
    run.stage += done;
    run.bytes = bytes;
    foldRun(run, data, data);
  });
}

void Engine::foldRun(const SharedStep& step, const std::byte* input, std::byte* output) {
  const bool direct = step.kind == SharedStepKind::kFoldFrom;
  from_.clear();
  to_.clear();
  for (int rank = 0; rank < place().ranks; ++rank) {
    if (rank == place().rank)
      from_.push_back(input);
    else
      from_.push_back(direct ? inputOf(rank) + step.input : stageOf(rank, step));
    if ((step.targets & plan::kAllOutputs) != 0) to_.push_back(outputOf(rank) + step.output);
  }
  if ((step.targets & plan::kOwnOutput) != 0) to_.push_back(output);
  const bool to_stages =
      (step.targets & plan::kOthersStages) != 0 || ((step.targets & plan::kWrittenBack) != 0 && writes_back_);
  for (int rank = 0; rank < place().ranks && to_stages; ++rank) {
    if (rank != place().rank) to_.push_back(stageOf(rank, step));
  }
  if ((step.targets & plan::kRankOutput) != 0) to_.push_back(outputOf(step.rank) + step.output);
  reduce::FoldSpec spec = spec_;
  spec.streaming = streaming_ && direct && to_.front() != from_.front();
  reduce::fold(spec, to_, from_, step.bytes / sizeOf(spec.type));
}

// An all-reduce in which some ranks' vectors are in pieces and others' are contiguous.
void Engine::foldListed(const SharedStep& step) {
  listed_.within(step.input, step.bytes,
                 [&](std::size_t piece, std::size_t inside, std::size_t done, std::size_t bytes) {
                   from_.clear();
                   to_.clear();
                   for (int rank = 0; rank < place().ranks; ++rank) {
                     std::byte* const data = listed_.data(rank, piece);
                     from_.push_back(data != nullptr ? data + inside : inputOf(rank) + step.input + done);
                     to_.push_back(data != nullptr ? data + inside : outputOf(rank) + step.output + done);
                   }
                   reduce::fold(spec_, to_, from_, bytes / sizeOf(spec_.type));
                 });
}

void Engine::copy(void* to, const void* from, std::size_t bytes) const {
  if (streaming_)
    reduce::copyStreaming(to, from, bytes);
  else
    reduce::copyCached(to, from, bytes);
}

const std::byte* Engine::inputOf(int rank) const {
  if (rank == place().rank) return static_cast<const std::byte*>(buffers_.input);
  return place().segment.base + meeting_.callSlot(rank).input;
}

std::byte* Engine::outputOf(int rank) const {
  if (rank == place().rank) return static_cast<std::byte*>(buffers_.output);
  return place().segment.base + meeting_.callSlot(rank).output;
}

// A table is valid only while its rank is in the call. Before the tables are read a cheap check suffices;
// after that they are trusted only if no rank has begun to abort.
bool Engine::readPieces(const Call& call) {
  if (!meeting_.anyOffers(Offer::kPieces)) return true;
  if (waiter().peerAborted()) return false;
  const std::size_t bytes = call.count * sizeOf(exec::CallKey::unpacked(call.key).type);
  for (int distance = 0; distance < place().ranks;
       ++distance) {  // the own one first, so that the other ranks are blamed
    const int rank = (place().rank + distance) % place().ranks;
    const CallSlot& slot = meeting_.callSlot(rank);
    if (slot.offer != Offer::kPieces) continue;
    // Read once: the other instance may change it.
    const std::uint64_t table = *static_cast<const volatile std::uint64_t*>(&slot.input);
    const std::size_t room = place().segment.bytes;
    const std::string odd = table % sizeof(table) == 0 && table < room - sizeof(table)
                                ? listed_.read(rank, place().segment.base + table, room - table, bytes)
                                : "its list of packed tensors lies outside the segment";
    if (odd.empty()) continue;
    if (!waiter().peerIsAborting()) meeting_.blame(rank, meeting_.nameOf(rank) + ": " + odd);
    return false;
  }
  return !waiter().peerIsAborting();
}

}  // namespace popdist::shared
