// SPDX-License-Identifier: Apache-2.0
// The way through stages: one of each instance, in which others find what they sum of its tensors, and the
// sums.
#include <algorithm>
#include <cstring>

#include "libpopdist/src/plan/shared_plan.h"
#include "libpopdist/src/pod/device/memory_sum.h"
#include "libpopdist/src/reduce/copy.h"

namespace popdist::pod {
namespace {

// Under way at a time: one chunk is exported, one summed, one imported.
constexpr std::size_t kSlots = 3;
constexpr std::size_t kMostChunkBytes = 256 << 10;
constexpr std::size_t kMostStageBytes = 16 << 20;

}  // namespace

// Of a replica, in a stage, where chunks begin at lines.
std::size_t MemorySum::chunkBytes() const {
  const std::size_t all_slots = kMostStageBytes / kSlots / most_local_;
  return std::max(plan::kLineBytes,
                  std::min(kMostChunkBytes, all_slots) / plan::kLineBytes * plan::kLineBytes);
}

void MemorySum::takeStage() {
  if (stage_ != nullptr) return;
  const pop::Result<void*> taken = place_.heap->allocate(kSlots * most_local_ * chunk_bytes_);
  if (!taken.ok()) giveUp(taken.status());
  stage_ = taken.value();
}

// The first chunk is in the stage when others learn where that is.
void MemorySum::beginStaged(const DeviceTensors& tensors) {
  takeStage();
  exportChunk(tensors, 0);
}

// Chunk by chunk: one is exported, one summed, one imported at a time.
void MemorySum::sumStaged(const DeviceTensors& tensors) {
  const std::size_t chunk_elements = chunk_bytes_ / sizeOf(tensors.type);
  const std::size_t chunks = (tensors.count + chunk_elements - 1) / chunk_elements;
  for (std::uint64_t turn = 1; turn < chunks + 2; ++turn) {
    if (turn < chunks) exportChunk(tensors, turn);
    if (turn - 1 < chunks) sumChunk(tensors, turn - 1);
    if (turn >= 2) importChunk(tensors, turn - 2);
    if (turn == chunks + 1) confirm();
    meet();
  }
}

// What others sum: all but the own share.
void MemorySum::exportChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const plan::Range own = shareOf(instance_, elements);
  const std::size_t own_end = own.begin + own.count;
  for (std::size_t local = 0; local < tensors.local.size(); ++local) {
    std::byte* const stage = slotOf(stage_, chunk, static_cast<int>(local));
    for (const plan::Range part : {plan::Range{elements.begin, own.begin - elements.begin},
                                   plan::Range{own_end, elements.begin + elements.count - own_end}}) {
      reduce::copyCached(stage + bytesIn(elements, part), at(tensors.local[local], part.begin),
                         part.count * sizeOf(call_.type));
    }
  }
}

// The sums go to the own tensors, and into the others' stages over what was read there (ADR 0028).
void MemorySum::sumChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const plan::Range part = shareOf(instance_, elements);
  const std::size_t offset = bytesIn(elements, part);
  from_.clear();
  to_.clear();
  for (std::size_t replica = 0; replica < local_of_replica_.size(); ++replica) {
    const int local = local_of_replica_[replica];
    std::byte* const memory = instanceOf(replica) == instance_
                                  ? at(tensors.local[static_cast<std::size_t>(local)], part.begin)
                                  : stageOf(instanceOf(replica), chunk, local) + offset;
    from_.push_back(memory);
    to_.push_back(memory);
  }
  fold(part);
}

void MemorySum::importChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  for (int instance = 0; instance < group_->size(); ++instance) {
    if (instance == instance_) continue;
    const plan::Range part = shareOf(instance, elements);
    const std::byte* const sums = stageOf(instance_, chunk, 0) + bytesIn(elements, part);
    for (void* const tensor : tensors.local)
      reduce::copyCached(at(tensor, part.begin), sums, part.count * sizeOf(call_.type));
  }
}

plan::Range MemorySum::chunkOf(const DeviceTensors& tensors, std::uint64_t chunk) const {
  const std::size_t elements = chunk_bytes_ / sizeOf(tensors.type);
  const std::size_t begin = chunk * elements;
  return {begin, std::min(elements, tensors.count - begin)};
}

std::byte* MemorySum::stageOf(int instance, std::uint64_t chunk, int local) const {
  return slotOf(mapped(placesOf(instance).front()), chunk, local);
}

std::byte* MemorySum::slotOf(void* stage, std::uint64_t chunk, int local) const {
  return static_cast<std::byte*>(stage) +
         (chunk % kSlots * most_local_ + static_cast<std::size_t>(local)) * chunk_bytes_;
}

// Of a part, from the beginning of its chunk.
std::size_t MemorySum::bytesIn(plan::Range chunk, plan::Range part) const {
  return (part.begin - chunk.begin) * sizeOf(call_.type);
}

}  // namespace popdist::pod
