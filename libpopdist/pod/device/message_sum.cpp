// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/message_sum.h"

#include <utility>

namespace popdist::pod {
namespace {

// The parts as numbers, for a call whose members must agree on them.
std::vector<std::size_t> numbersOf(const DeviceTensors& tensors) {
  std::vector<std::size_t> numbers{tensors.count};
  for (const plan::Range& part : tensors.parts) numbers.insert(numbers.end(), {part.begin, part.count});
  return numbers;
}

}  // namespace

void MessageSum::run(const DeviceTensors& tensors) {
  std::vector<std::size_t> numbers = numbersOf(tensors);
  const group::CollectiveCall call{.operation = tensors.operation(),
                                   .count = tensors.count,
                                   .type = tensors.type,
                                   .ragged = !tensors.parts.empty(),
                                   .counts = numbers};
  const std::vector<plan::Plan>& plans = plansFor(tensors, numbers);
  std::vector<calls::MessageRunner::Part> parts;
  for (std::size_t local = 0; local < plans.size(); ++local)
    parts.push_back({&plans[local], tensors.local[local], tensors.local[local]});
  messages_->run(call, parts, {});
}

void MessageSum::refuse(plan::Operation call, const pop::Status& why) const {
  messages_->refuse(call, why);
}

void MessageSum::abort(plan::Operation call, const pop::Status& why) {
  messages_->abort(call, why);
}

// Training repeats the same few sizes.
const std::vector<plan::Plan>& MessageSum::plansFor(const DeviceTensors& tensors,
                                                    const std::vector<std::size_t>& numbers) {
  constexpr std::size_t kKeptPlans = 64;
  if (const auto kept = plans_.find(numbers); kept != plans_.end()) return kept->second;
  const std::vector<Need> needs = needsOf(tensors.parts);
  const int first = messages_->firstLocal();
  const int replicas = messages_->locals();
  std::vector<plan::Plan> plans =
      tensors.parts.empty()
          ? plansOf(all_reduce_, {.group = all_reduce_.replicas, .count = tensors.count}, first, replicas)
          : plansToNeeds(reduce_scatter_, first, replicas, tensors.count, needs);
  if (plans_.size() >= kKeptPlans) plans_.clear();
  return plans_.emplace(numbers, std::move(plans)).first->second;
}

// An instance needs its part in its first replica.
std::vector<Need> MessageSum::needsOf(std::span<const plan::Range> parts) const {
  std::vector<Need> needs;
  for (std::size_t replica = 0; replica < instance_of_replica_.size() && !parts.empty(); ++replica) {
    const int instance = instance_of_replica_[replica];
    if (replica == 0 || instance != instance_of_replica_[replica - 1])
      needs.push_back({static_cast<int>(replica), parts[static_cast<std::size_t>(instance)]});
  }
  return needs;
}

}  // namespace popdist::pod
