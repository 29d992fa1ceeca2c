// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/plans/collective_plans.h"

#include <utility>

#include "libpopdist/collectives/plan/steps.h"
#include "libpopdist/pod/plans/schedule_plans.h"

namespace popdist::pod {
namespace {

using plan::Buffer;
using plan::Range;

// Elements of the vector of each block.
class Places {
 public:
  Places(const Schedule& schedule, const Collective& collective)
      : schedule_(schedule), collective_(collective), place_of_part_(schedule.part_of_place.size()) {
    const bool has_parts =
        collective.kind == CollectiveKind::kReduceScatter || collective.kind == CollectiveKind::kAllGather;
    if (!has_parts) place_of_part_.clear();
    for (std::size_t place = 0; place < place_of_part_.size(); ++place)
      place_of_part_[schedule.part_of_place[place]] = place;
  }

  std::size_t partCount() const {
    return collective_.count / static_cast<std::size_t>(collective_.group.size);
  }
  Range partOf(int place) const { return {static_cast<std::size_t>(place) * partCount(), partCount()}; }

  // Visits each run of elements of a transfer's blocks.
  template <typename Visit>
  void forEachRun(const Transfer& transfer, const Visit& visit) const {
    if (place_of_part_.empty()) {
      visit(elementsOf(schedule_, transfer.first, transfer.blocks, collective_.count));
      return;
    }
    Range run{};
    for (std::uint32_t block = transfer.first; block < transfer.first + transfer.blocks; ++block) {
      const Range next = fragment(block);
      if (run.count > 0 && next.begin != run.begin + run.count) {
        visit(run);
        run = {};
      }
      if (run.count == 0) run.begin = next.begin;
      run.count += next.count;
    }
    visit(run);
  }

 private:
  Range fragment(std::uint32_t block) const {
    const auto fragments = schedule_.blocks / static_cast<std::uint32_t>(place_of_part_.size());
    const std::size_t place = place_of_part_[block / fragments];
    const Range in_part =
        plan::blockRange(partCount(), static_cast<int>(fragments), static_cast<int>(block % fragments));
    return {place * partCount() + in_part.begin, in_part.count};
  }

  const Schedule& schedule_;
  const Collective& collective_;
  std::vector<std::size_t> place_of_part_;  // empty: blocks lie in order
};

class Plans {
 public:
  Plans(const Schedule& schedule, const Collective& collective, int first, int replicas)
      : schedule_(schedule),
        collective_(collective),
        first_(first),
        places_(schedule, collective),
        plans_(static_cast<std::size_t>(replicas)) {}

  std::vector<plan::Plan> take() {
    forEachPlan([this](int replica, plan::Plan& plan) { begin(replica, plan); });
    for (const Phase& phase : schedule_.phases) {
      for (int each = 0; each < phase.rounds; ++each) {
        ++round_;
        phase.transfers(each, [this](const Transfer& transfer) { add(transfer); });
      }
    }
    ++round_;
    forEachPlan([this](int replica, plan::Plan& plan) { end(replica, plan); });
    return std::move(plans_);
  }

 private:
  template <typename Do>
  void forEachPlan(const Do& what) {
    for (std::size_t at = 0; at < plans_.size(); ++at) what(first_ + static_cast<int>(at), plans_[at]);
  }

  plan::Plan* planOf(int replica) {
    const int local = replica - first_;
    const bool is_local = local >= 0 && static_cast<std::size_t>(local) < plans_.size();
    return is_local ? &plans_[static_cast<std::size_t>(local)] : nullptr;
  }

  // Sums are made where the caller's vector does not show them.
  Buffer vector() const {
    return collective_.kind == CollectiveKind::kReduceScatter ? Buffer::kScratch : Buffer::kOutput;
  }

  void begin(int replica, plan::Plan& plan) const {
    const Range own = places_.partOf(collective_.group.placeOf(replica));
    switch (collective_.kind) {
      case CollectiveKind::kAllReduce:
        plan.steps.push_back(plan::copyStep(0, {Buffer::kInput, 0}, {Buffer::kOutput, 0}, collective_.count));
        return;
      case CollectiveKind::kReduceScatter:
        plan.scratch_count = collective_.count;
        plan.steps.push_back(
            plan::copyStep(0, {Buffer::kInput, 0}, {Buffer::kScratch, 0}, collective_.count));
        return;
      case CollectiveKind::kAllGather:
        plan.steps.push_back(plan::copyStep(0, {Buffer::kInput, 0}, {Buffer::kOutput, own.begin}, own.count));
        return;
      case CollectiveKind::kAllToAll:
        plan.steps.push_back(
            plan::copyStep(0, {Buffer::kInput, own.begin}, {Buffer::kOutput, own.begin}, own.count));
        return;
      case CollectiveKind::kTakeOwnPart:
        plan.steps.push_back(plan::copyStep(0, {Buffer::kInput, own.begin}, {Buffer::kOutput, 0}, own.count));
        return;
      case CollectiveKind::kBroadcast:
      case CollectiveKind::kReduceScatterOfAll:
        return;
    }
  }

  void end(int replica, plan::Plan& plan) const {
    if (collective_.kind != CollectiveKind::kReduceScatter) return;
    const Range own = places_.partOf(collective_.group.placeOf(replica));
    plan.steps.push_back(
        plan::copyStep(round_, {Buffer::kScratch, own.begin}, {Buffer::kOutput, 0}, own.count));
  }

  void add(const Transfer& transfer) {
    plan::Plan* const sender = planOf(transfer.from);
    plan::Plan* const receiver = planOf(transfer.to);
    if (sender == nullptr && receiver == nullptr) return;
    if (collective_.kind == CollectiveKind::kAllToAll) {
      addPart(transfer, sender, receiver);
      return;
    }
    places_.forEachRun(transfer, [&](Range run) {
      const plan::Slice at{vector(), run.begin};
      if (sender != nullptr) sender->steps.push_back(plan::sendStep(round_, transfer.to, at, run.count));
      if (receiver == nullptr) return;
      receiver->steps.push_back(transfer.reduces
                                    ? plan::recvReduceStep(round_, transfer.from, at, at, run.count, {})
                                    : plan::recvStep(round_, transfer.from, at, run.count));
    });
  }

  void addPart(const Transfer& transfer, plan::Plan* sender, plan::Plan* receiver) const {
    const Range sent = places_.partOf(collective_.group.placeOf(transfer.to));
    const Range taken = places_.partOf(collective_.group.placeOf(transfer.from));
    if (sender != nullptr)
      sender->steps.push_back(plan::sendStep(round_, transfer.to, {Buffer::kInput, sent.begin}, sent.count));
    if (receiver != nullptr)
      receiver->steps.push_back(
          plan::recvStep(round_, transfer.from, {Buffer::kOutput, taken.begin}, taken.count));
  }

  const Schedule& schedule_;
  const Collective& collective_;
  const int first_;
  const Places places_;
  std::uint32_t round_ = 0;
  std::vector<plan::Plan> plans_;
};

}  // namespace

std::vector<plan::Plan> plansOf(const Schedule& schedule, const Collective& collective, int first,
                                int replicas) {
  return Plans(schedule, collective, first, replicas).take();
}

}  // namespace popdist::pod
