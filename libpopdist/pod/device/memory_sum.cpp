// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/memory_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/collectives/group/time_left.h"
#include "libpopdist/collectives/shared/engine.h"

namespace popdist::pod {
namespace {

// Up to this many bytes per instance it is faster to give all tensors to all instances, which all sum them.
constexpr std::size_t kMaxGatheredBytes = 16 << 10;

}  // namespace

MemorySum::MemorySum(std::unique_ptr<group::Group> group, const Schedule& schedule, context::SharedHeap& heap,
                     transport::SegmentView segment, std::vector<int> instance_of_replica)
    : group_(std::move(group)),
      places_(segment, std::move(instance_of_replica), group_->rank(), group_->size()),
      fold_(schedule),
      staged_(heap, places_, fold_) {}

// After a failed call another instance may still be writing to the stage, so the stage is never used again.
MemorySum::~MemorySum() {
  if (group_->isUsable()) staged_.freeStage();
}

void MemorySum::run(const DeviceTensors& tensors) {
  deadline_ = Clock::now() + group_->timeout();
  numbers_.assign({tensors.count});
  for (const plan::Range& part : tensors.parts) numbers_.insert(numbers_.end(), {part.begin, part.count});
  call_ = {.operation = tensors.operation(),
           .count = tensors.count,
           .type = tensors.type,
           .op = Operator::kSum,
           .ragged = !tensors.parts.empty(),
           .counts = numbers_};
  group_->checkUsable(call_);
  const std::size_t bytes = tensors.count * sizeOf(tensors.type);
  if (bytes <= kMaxGatheredBytes / places_.maxLocal()) return sumGathered(tensors);
  // An instance with private tensors knows the algorithm before the others do.
  const bool mapped = SumPlaces::areMapped(places_.own(nullptr, tensors.local));
  if (!mapped) beginStaged(tensors);
  tellPlaces(tensors);
  if (places_.mappedInstances() == group_->size()) return sumWhereTheyAre(tensors);
  if (places_.mappedInstances() > 0) {
    if (mapped) beginStaged(tensors);
    tellPlaces(tensors);
  }
  sumStaged(tensors);
}

void MemorySum::refuse(plan::Operation call, const pop::Status& why) const {
  group_->fail({nameOf(call), nameOf(call)}, why, -1);
}

void MemorySum::abort(plan::Operation, const pop::Status& why) {
  group_->failCollective(group::descriptionOf(call_), {why});
}

// ---- three ways

// All replicas' tensors go to all instances.
void MemorySum::sumGathered(const DeviceTensors& tensors) {
  const std::size_t bytes = tensors.count * sizeOf(tensors.type);
  const std::size_t max_local = places_.maxLocal();
  packed_.resize(max_local * bytes);
  gathered_.resize(packed_.size() * static_cast<std::size_t>(group_->size()));
  for (std::size_t local = 0; local < tensors.local.size() && bytes > 0; ++local)
    std::memcpy(packed_.data() + local * bytes, tensors.local[local], bytes);
  gather(packed_.data(), gathered_.data(), max_local * tensors.count, tensors.type);
  const bool in_parts = !tensors.parts.empty();
  const plan::Range part =
      in_parts ? tensors.parts[static_cast<std::size_t>(places_.instance())] : plan::Range{0, tensors.count};
  const std::size_t offset = part.begin * sizeOf(tensors.type);
  from_.clear();
  for (std::size_t replica = 0; replica < places_.replicas(); ++replica) {
    const auto instance = static_cast<std::size_t>(places_.instanceOf(replica));
    from_.push_back(gathered_.data() + (instance * max_local + places_.localOf(replica)) * bytes + offset);
  }
  to_.clear();
  for (void* const tensor : tensors.local.first(in_parts ? 1 : tensors.local.size()))
    to_.push_back(static_cast<std::byte*>(tensor) + offset);
  fold(part);
}

// One pass over all tensors, with a meeting before and after it.
void MemorySum::sumWhereTheyAre(const DeviceTensors& tensors) {
  const std::size_t element = sizeOf(tensors.type);
  const plan::Range share = tensors.parts.empty()
                                ? places_.shareOf(places_.instance(), {0, tensors.count}, element)
                                : places_.shareOfPart(places_.instance(), tensors.parts, element);
  const std::size_t most = shared::kBetweenLooksBytes / element;
  for (std::size_t done = 0; done < share.count; done += most) {
    const plan::Range part{share.begin + done, std::min(most, share.count - done)};
    from_.clear();
    to_.clear();
    for (std::size_t replica = 0; replica < places_.replicas(); ++replica) {
      const bool own = places_.instanceOf(replica) == places_.instance();
      auto* const tensor =
          own ? static_cast<std::byte*>(tensors.local[places_.localOf(replica)]) : places_.tensorOf(replica);
      from_.push_back(tensor + part.begin * element);
      if (places_.needs(replica, tensors.parts)) to_.push_back(tensor + part.begin * element);
    }
    confirm();
    fold(part);
  }
  confirm();
  meet();
}

void MemorySum::beginStaged(const DeviceTensors& tensors) {
  if (const pop::Status begun = staged_.begin(tensors); !begun.ok()) abort(tensors.operation(), begun);
}

// All of it, also where a part would do: what is copied to a stage is there for all.
void MemorySum::sumStaged(const DeviceTensors& tensors) {
  const std::uint64_t turns = staged_.turnsOf(tensors);
  for (std::uint64_t turn = 1; turn <= turns; ++turn) {
    staged_.turn(tensors, turn);
    if (turn == turns) confirm();
    meet();
  }
}

// ---- what they need

void MemorySum::fold(plan::Range part) {
  fold_.run(call_.count, call_.type, part, from_, to_);
}

// All instances publish where their stage and tensors are.
void MemorySum::tellPlaces(const DeviceTensors& tensors) {
  const std::vector<std::uint64_t> own = places_.own(staged_.stage(), tensors.local);
  gather(own.data(), places_.all(), own.size(), Type::kUint64);
}

void MemorySum::meet() {
  gather(nullptr, nullptr, 0, Type::kUint8);
}

// Throws if an instance has aborted; otherwise its memory may still be read and written.
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

}  // namespace popdist::pod
