// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/memory_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/src/group/time_left.h"
#include "libpopdist/src/plan/shared_fold.h"
#include "libpopdist/src/shared/engine.h"

namespace popdist::pod {
namespace {

using transport::kPrivate;

constexpr plan::Operation kOperation = plan::kDeviceAllReduce;

// Up to so many bytes of an instance, it is faster that each gets all and sums all.
constexpr std::size_t kMostGatheredBytes = 16 << 10;

}  // namespace

MemorySum::MemorySum(std::unique_ptr<group::Group> group, const ReplicaLayout& layout, Place place)
    : group_(std::move(group)), place_(std::move(place)), instance_(group_->rank()), fold_(layout) {
  std::vector<int> replicas_of(static_cast<std::size_t>(group_->size()));
  for (const int instance : place_.instance_of_replica)
    local_of_replica_.push_back(replicas_of[static_cast<std::size_t>(instance)]++);
  most_local_ = static_cast<std::size_t>(*std::max_element(replicas_of.begin(), replicas_of.end()));
  chunk_bytes_ = chunkBytes();
}

// After a call that failed, another instance may still be writing to the stage: it is used for nothing else.
MemorySum::~MemorySum() {
  if (group_->isUsable()) place_.heap->free(stage_);
}

void MemorySum::run(const DeviceTensors& tensors) {
  deadline_ = Clock::now() + group_->timeout();
  call_ = {.operation = kOperation, .count = tensors.count, .type = tensors.type, .op = Operator::kSum};
  group_->checkUsable(call_);
  const std::size_t bytes = tensors.count * sizeOf(tensors.type);
  if (bytes <= kMostGatheredBytes / most_local_) return sumGathered(tensors);
  // Who has private tensors knows the way before the others do.
  const bool mapped = areMapped(tensors);
  if (!mapped) beginStaged(tensors);
  tellPlaces(tensors);
  if (mappedInstances() == group_->size()) return sumWhereTheyAre(tensors);
  if (mappedInstances() > 0) {
    if (mapped) beginStaged(tensors);
    tellPlaces(tensors);
  }
  sumStaged(tensors);
}

void MemorySum::refuse(const pop::Status& why) const {
  group_->fail({nameOf(kOperation), nameOf(kOperation)}, why, -1);
}

void MemorySum::giveUp(const pop::Status& why) {
  group_->failCollective(group::descriptionOf(call_), {why});
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
  const plan::Range share = shareOf(instance_, {0, tensors.count});
  const std::size_t most = shared::kBetweenLooksBytes / sizeOf(tensors.type);
  for (std::size_t done = 0; done < share.count; done += most) {
    const plan::Range part{share.begin + done, std::min(most, share.count - done)};
    findAll(tensors, part.begin);
    confirm();
    fold(part);
  }
  confirm();
  meet();
}

// Of all replicas' tensors, where `element` is.
void MemorySum::findAll(const DeviceTensors& tensors, std::size_t element) {
  to_.clear();
  for (std::size_t replica = 0; replica < local_of_replica_.size(); ++replica) {
    const auto local = static_cast<std::size_t>(local_of_replica_[replica]);
    const int instance = instanceOf(replica);
    void* const tensor = instance == instance_ ? tensors.local[local] : mapped(placesOf(instance)[1 + local]);
    to_.push_back(at(tensor, element));
  }
  from_.assign(to_.begin(), to_.end());
}

// ---- what they need

void MemorySum::fold(plan::Range part) {
  fold_.run(call_.count, call_.type, part, from_, to_);
}

// Everybody says where its stage and its tensors are.
void MemorySum::tellPlaces(const DeviceTensors& tensors) {
  own_places_.assign(placesOfEach(), 0);
  own_places_.front() = place_.segment.offsetOf(stage_);
  std::transform(tensors.local.begin(), tensors.local.end(), own_places_.begin() + 1,
                 [this](const void* tensor) { return place_.segment.offsetOf(tensor); });
  places_.resize(placesOfEach() * static_cast<std::size_t>(group_->size()));
  gather(own_places_.data(), places_.data(), placesOfEach(), Type::kUint64);
}

std::span<const std::uint64_t> MemorySum::placesOf(int instance) const {
  return std::span(places_).subspan(static_cast<std::size_t>(instance) * placesOfEach(), placesOfEach());
}

bool MemorySum::areMapped(const DeviceTensors& tensors) const {
  return std::all_of(tensors.local.begin(), tensors.local.end(),
                     [this](const void* tensor) { return place_.segment.offsetOf(tensor) != kPrivate; });
}

bool MemorySum::areMapped(int instance) const {
  const std::span<const std::uint64_t> tensors = placesOf(instance).subspan(1);
  return std::find(tensors.begin(), tensors.end(), kPrivate) == tensors.end();
}

int MemorySum::mappedInstances() const {
  int mapped = 0;
  for (int instance = 0; instance < group_->size(); ++instance) mapped += areMapped(instance) ? 1 : 0;
  return mapped;
}

void MemorySum::meet() {
  gather(nullptr, nullptr, 0, Type::kUint8);
}

// Nobody has given up: others' memory is still theirs to have read or written.
void MemorySum::confirm() {
  group_->confirm(call_);
}

void MemorySum::gather(const void* input, void* output, std::size_t count, Type type) {
  const group::CollectiveCall part{.operation = plan::Operation::kAllGather,
                                   .input = input,
                                   .output = output,
                                   .count = count,
                                   .type = type,
                                   .timeout = group::timeLeft(deadline_),
                                   .part_of = &call_};
  group_->run(part);
}

plan::Range MemorySum::shareOf(int instance, plan::Range elements) const {
  const std::size_t element = sizeOf(call_.type);
  const plan::Range bytes = plan::lineBlock(elements.count * element, group_->size(), instance);
  return {elements.begin + bytes.begin / element, bytes.count / element};
}

std::byte* MemorySum::at(void* tensor, std::size_t element) const {
  return static_cast<std::byte*>(tensor) + element * sizeOf(call_.type);
}

}  // namespace popdist::pod
