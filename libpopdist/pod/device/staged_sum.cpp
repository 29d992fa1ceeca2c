// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/staged_sum.h"

#include <algorithm>

#include "libpopdist/collectives/plan/shared_plan.h"
#include "libpopdist/collectives/reduce/copy.h"

namespace popdist::pod {
namespace {

// Under way at a time: one chunk is exported, one summed, one imported.
constexpr std::size_t kSlots = 3;
constexpr std::size_t kMaxChunkBytes = 256 << 10;
constexpr std::size_t kMaxStageBytes = 16 << 20;

// The bytes of a replica's chunk in a stage; chunks begin at cache lines.
std::size_t chunkBytesFor(std::size_t max_local) {
  const std::size_t all_slots = kMaxStageBytes / kSlots / max_local;
  return std::max(plan::kLineBytes,
                  std::min(kMaxChunkBytes, all_slots) / plan::kLineBytes * plan::kLineBytes);
}

std::byte* at(void* tensor, std::size_t element, Type type) {
  return static_cast<std::byte*>(tensor) + element * sizeOf(type);
}

// The offset of a part from the start of its chunk.
std::size_t bytesIn(plan::Range chunk, plan::Range part, Type type) {
  return (part.begin - chunk.begin) * sizeOf(type);
}

}  // namespace

StagedSum::StagedSum(context::SharedHeap& heap, const SumPlaces& places, OrderedFold& fold)
    : heap_(heap), places_(places), fold_(fold), chunk_bytes_(chunkBytesFor(places.maxLocal())) {}

pop::Status StagedSum::begin(const DeviceTensors& tensors) {
  if (stage_ == nullptr) {
    POP_ASSIGN_OR_RETURN(stage_, heap_.allocate(kSlots * places_.maxLocal() * chunk_bytes_));
  }
  exportChunk(tensors, 0);
  return {};
}

void StagedSum::turn(const DeviceTensors& tensors, std::uint64_t turn) {
  const std::uint64_t chunks = chunksOf(tensors);
  if (turn < chunks) exportChunk(tensors, turn);
  if (turn - 1 < chunks) sumChunk(tensors, turn - 1);
  if (turn >= 2) importChunk(tensors, turn - 2);
}

// Exports what other instances sum: everything except the own share.
void StagedSum::exportChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const plan::Range own = places_.shareOf(places_.instance(), elements, sizeOf(tensors.type));
  const std::size_t own_end = own.begin + own.count;
  for (std::size_t local = 0; local < tensors.local.size(); ++local) {
    std::byte* const stage = slotOf(stage_, chunk, local);
    for (const plan::Range part : {plan::Range{elements.begin, own.begin - elements.begin},
                                   plan::Range{own_end, elements.begin + elements.count - own_end}}) {
      reduce::copyCached(stage + bytesIn(elements, part, tensors.type),
                         at(tensors.local[local], part.begin, tensors.type),
                         part.count * sizeOf(tensors.type));
    }
  }
}

// Copies the sums to the own tensors, and into the other instances' stages over what was read there (ADR
// 0028).
void StagedSum::sumChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const plan::Range part = places_.shareOf(places_.instance(), elements, sizeOf(tensors.type));
  const std::size_t offset = bytesIn(elements, part, tensors.type);
  memory_.clear();
  for (std::size_t replica = 0; replica < places_.replicas(); ++replica) {
    const std::size_t local = places_.localOf(replica);
    const int instance = places_.instanceOf(replica);
    memory_.push_back(instance == places_.instance()
                          ? at(tensors.local[local], part.begin, tensors.type)
                          : slotOf(places_.stageOf(instance), chunk, local) + offset);
  }
  fold_.run(tensors.count, tensors.type, part, memory_, memory_);
}

void StagedSum::importChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  for (int instance = 0; instance < places_.instances(); ++instance) {
    if (instance == places_.instance()) continue;
    const plan::Range part = places_.shareOf(instance, elements, sizeOf(tensors.type));
    const std::byte* const sums = slotOf(stage_, chunk, 0) + bytesIn(elements, part, tensors.type);
    for (void* const tensor : tensors.local)
      reduce::copyCached(at(tensor, part.begin, tensors.type), sums, part.count * sizeOf(tensors.type));
  }
}

std::uint64_t StagedSum::chunksOf(const DeviceTensors& tensors) const {
  const std::size_t elements = chunk_bytes_ / sizeOf(tensors.type);
  return (tensors.count + elements - 1) / elements;
}

plan::Range StagedSum::chunkOf(const DeviceTensors& tensors, std::uint64_t chunk) const {
  const std::size_t elements = chunk_bytes_ / sizeOf(tensors.type);
  const std::size_t begin = chunk * elements;
  return {begin, std::min(elements, tensors.count - begin)};
}

std::byte* StagedSum::slotOf(void* stage, std::uint64_t chunk, std::size_t local) const {
  return static_cast<std::byte*>(stage) + (chunk % kSlots * places_.maxLocal() + local) * chunk_bytes_;
}

}  // namespace popdist::pod
