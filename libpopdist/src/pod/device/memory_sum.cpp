// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/memory_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/src/plan/shared_fold.h"
#include "libpopdist/src/reduce/copy.h"
#include "libpopdist/src/shared/board.h"

namespace popdist::pod {
namespace {

using shared::kPrivate;

constexpr plan::Operation kOperation = plan::kDeviceAllReduce;

// Up to so many bytes of an instance, it is faster that each gets all and sums all.
constexpr std::size_t kMostGatheredBytes = 16 << 10;

// Under way at a time: one chunk is exported, one summed, one imported.
constexpr std::size_t kSlots = 3;
constexpr std::size_t kMostChunkBytes = 256 << 10;
constexpr std::size_t kMostStageBytes = 16 << 20;

// Of a stage, where chunks begin.
constexpr std::size_t kLineBytes = 64;

}  // namespace

MemorySum::MemorySum(std::unique_ptr<context::Group> group, const ReplicaLayout& layout, Place place)
    : group_(std::move(group)),
      place_(std::move(place)),
      instance_(group_->localRanks().front()),
      fold_(layout) {
  std::vector<int> replicas_of(static_cast<std::size_t>(group_->size()));
  for (const int instance : place_.instance_of_replica)
    local_of_replica_.push_back(replicas_of[static_cast<std::size_t>(instance)]++);
  most_local_ = static_cast<std::size_t>(*std::max_element(replicas_of.begin(), replicas_of.end()));
  const std::size_t all_slots = kMostStageBytes / kSlots / most_local_;
  chunk_bytes_ = std::max(kLineBytes, std::min(kMostChunkBytes, all_slots) / kLineBytes * kLineBytes);
}

MemorySum::~MemorySum() {
  place_.heap->free(stage_);
}

void MemorySum::run(const DeviceTensors& tensors) {
  deadline_ = Clock::now() + group_->timeout();
  call_ = {.operation = kOperation, .count = tensors.count, .type = tensors.type, .op = Operator::kSum};
  const std::size_t bytes = tensors.count * sizeOf(tensors.type);
  if (bytes <= kMostGatheredBytes / most_local_) return sumGathered(tensors);
  if (tellPlaces(tensors)) return sumWhereTheyAre(tensors);
  if (!allHaveStages()) {
    takeStage();
    tellPlaces(tensors);
  }
  sumStaged(tensors);
}

void MemorySum::refuse(const pop::Status& why) const {
  group_->fail(nameOf(kOperation), why, -1);
}

void MemorySum::giveUp(const pop::Status& why) {
  group_->give(nameOf(kOperation), {why});
}

// ---- three ways

// All replicas' tensors go to all instances.
void MemorySum::sumGathered(const DeviceTensors& tensors) {
  const std::size_t bytes = tensors.count * sizeOf(tensors.type);
  packed_.resize(most_local_ * bytes);
  gathered_.resize(packed_.size() * static_cast<std::size_t>(group_->size()));
  for (std::size_t local = 0; local < tensors.local.size() && bytes > 0; ++local)
    std::memcpy(packed_.data() + local * bytes, tensors.local[local], bytes);
  gather(packed_.data(), gathered_.data(), most_local_ * tensors.count, tensors.type);
  from_.clear();
  for (std::size_t replica = 0; replica < local_of_replica_.size(); ++replica) {
    const std::size_t place = static_cast<std::size_t>(instanceOf(replica)) * most_local_ +
                              static_cast<std::size_t>(local_of_replica_[replica]);
    from_.push_back(gathered_.data() + place * bytes);
  }
  to_.clear();
  for (void* const tensor : tensors.local) to_.push_back(static_cast<std::byte*>(tensor));
  fold({0, tensors.count});
}

// One pass over all tensors, and a meeting before and after it.
void MemorySum::sumWhereTheyAre(const DeviceTensors& tensors) {
  const plan::Range part = shareOf(instance_, {0, tensors.count});
  from_.clear();
  to_.clear();
  for (std::size_t replica = 0; replica < local_of_replica_.size(); ++replica) {
    const auto local = static_cast<std::size_t>(local_of_replica_[replica]);
    const std::size_t place = static_cast<std::size_t>(instanceOf(replica)) * (1 + most_local_) + 1 + local;
    std::byte* const tensor = instanceOf(replica) == instance_ ? static_cast<std::byte*>(tensors.local[local])
                                                               : mapped(places_[place]);
    to_.push_back(tensor + part.begin * sizeOf(tensors.type));
  }
  from_.assign(to_.begin(), to_.end());
  confirm();
  fold(part);
  confirm();
  meet();
}

// Chunk by chunk: one is exported, one summed, one imported at a time.
void MemorySum::sumStaged(const DeviceTensors& tensors) {
  const std::size_t chunk_elements = chunk_bytes_ / sizeOf(tensors.type);
  const std::size_t chunks = (tensors.count + chunk_elements - 1) / chunk_elements;
  for (std::uint64_t turn = 0; turn < chunks + 2; ++turn) {
    if (turn < chunks) exportChunk(tensors, turn);
    if (turn >= 1 && turn - 1 < chunks) sumChunk(tensors, turn - 1);
    if (turn >= 2) importChunk(tensors, turn - 2);
    if (turn == chunks + 1) confirm();
    meet();
  }
}

void MemorySum::exportChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const std::size_t element = sizeOf(tensors.type);
  for (std::size_t local = 0; local < tensors.local.size(); ++local)
    reduce::copyCached(stageOf(instance_, chunk, static_cast<int>(local)),
                       static_cast<const std::byte*>(tensors.local[local]) + elements.begin * element,
                       elements.count * element);
}

// An instance leaves its share where it had its own first replica's elements, which nobody else looks at.
void MemorySum::sumChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const plan::Range part = shareOf(instance_, elements);
  const std::size_t at = (part.begin - elements.begin) * sizeOf(tensors.type);
  from_.clear();
  for (std::size_t replica = 0; replica < local_of_replica_.size(); ++replica)
    from_.push_back(stageOf(instanceOf(replica), chunk, local_of_replica_[replica]) + at);
  to_.assign({stageOf(instance_, chunk, 0) + at});
  fold(part);
}

void MemorySum::importChunk(const DeviceTensors& tensors, std::uint64_t chunk) {
  const plan::Range elements = chunkOf(tensors, chunk);
  const std::size_t element = sizeOf(tensors.type);
  for (int instance = 0; instance < group_->size(); ++instance) {
    const plan::Range part = shareOf(instance, elements);
    const std::byte* const sums = stageOf(instance, chunk, 0) + (part.begin - elements.begin) * element;
    for (void* const tensor : tensors.local)
      reduce::copyCached(static_cast<std::byte*>(tensor) + part.begin * element, sums, part.count * element);
  }
}

plan::Range MemorySum::chunkOf(const DeviceTensors& tensors, std::uint64_t chunk) const {
  const std::size_t elements = chunk_bytes_ / sizeOf(tensors.type);
  const std::size_t begin = chunk * elements;
  return {begin, std::min(elements, tensors.count - begin)};
}

// ---- what they need

void MemorySum::fold(plan::Range part) {
  fold_.run(call_.count, call_.type, part, from_, to_);
}

// Everybody says where its stage and its tensors are. Whether all tensors are in the segment.
bool MemorySum::tellPlaces(const DeviceTensors& tensors) {
  const auto offset_of = [this](const void* memory) {
    return shared::offsetIn(place_.segment.base, place_.segment.bytes, memory);
  };
  const std::size_t each = 1 + most_local_;
  own_places_.assign(each, 0);
  own_places_.front() = offset_of(stage_);
  std::transform(tensors.local.begin(), tensors.local.end(), own_places_.begin() + 1, offset_of);
  places_.resize(each * static_cast<std::size_t>(group_->size()));
  gather(own_places_.data(), places_.data(), each, Type::kUint64);
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (place % each != 0 && places_[place] == kPrivate) return false;
  }
  return true;
}

bool MemorySum::allHaveStages() const {
  for (std::size_t place = 0; place < places_.size(); place += 1 + most_local_) {
    if (places_[place] == kPrivate) return false;
  }
  return true;
}

void MemorySum::takeStage() {
  if (stage_ != nullptr) return;
  const pop::Result<void*> taken = place_.heap->allocate(kSlots * most_local_ * chunk_bytes_);
  if (!taken.ok()) giveUp(taken.status());
  stage_ = taken.value();
}

void MemorySum::meet() {
  gather(nullptr, nullptr, 0, Type::kUint8);
}

// Nobody has given up: others' memory is still theirs to have read or written.
void MemorySum::confirm() {
  group_->confirmShared(nameOf(kOperation));
}

void MemorySum::gather(const void* input, void* output, std::size_t count, Type type) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
  const context::CollectiveCall part{.operation = plan::Operation::kAllGather,
                                     .input = input,
                                     .output = output,
                                     .count = count,
                                     .type = type,
                                     .timeout = std::max(left, std::chrono::milliseconds(1))};
  group_->runShared(part, call_);
}

plan::Range MemorySum::shareOf(int instance, plan::Range elements) const {
  const std::size_t element = sizeOf(call_.type);
  const plan::Range bytes = plan::lineBlock(elements.count * element, group_->size(), instance);
  return {elements.begin + bytes.begin / element, bytes.count / element};
}

std::byte* MemorySum::stageOf(int instance, std::uint64_t chunk, int local) const {
  const std::uint64_t stage = places_[static_cast<std::size_t>(instance) * (1 + most_local_)];
  return mapped(stage) + (chunk % kSlots * most_local_ + static_cast<std::size_t>(local)) * chunk_bytes_;
}

}  // namespace popdist::pod
