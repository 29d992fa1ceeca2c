// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/long_wait.h"

#include <chrono>
#include <span>

#include "common/contract/segment.h"
#include "libpopdist/collectives/group/group.h"

namespace popdist::group {
namespace {

using pop::contract::Station;
using Clock = pop::sys::AwakeClock;

constexpr std::chrono::milliseconds kPatience{300};
constexpr int kMostDialled = 16;

std::span<Station> stationsOf(const context::ContextState& context, int instance) {
  pop::contract::SegmentHeader* const header = context.link->segment().header();
  return pop::contract::stationsOf(header, header->instances)
      .subspan(static_cast<std::size_t>(instance) * pop::contract::kStationsOfInstance,
               pop::contract::kStationsOfInstance);
}

}  // namespace

std::string callOfFence(const std::string& tag) {
  return tag.starts_with("communicator") ? "the creation of " + tag : "a fence (" + tag + ')';
}

bool isForThisThread(const context::ContextState& context, int number) {
  if (number == kFence) return context.fence_caller.isThis();
  return context.groups.with(
      number, [](Group& group) { return group.isCalledByThisThreadAlone() && group.isUsable(); });
}

bool LongWait::isLong() {
  const Clock::time_point now = Clock::now();
  if (!since_) since_ = now;
  return now - *since_ >= kPatience;
}

void LongWait::enter(const std::string& call) {
  const std::span<Station> own = stationsOf(context_, context_.instance_index);
  for (place_ = 0; place_ < own.size(); ++place_) {
    if (!pop::contract::enterStation(own[place_], static_cast<std::uint32_t>(number_), call)) continue;
    station_ = &own[place_];
    return;
  }
}

std::optional<LongWait::Other> LongWait::findOnHost(int instance) {
  if (station_ == nullptr) return std::nullopt;
  const std::uint64_t own_claim =
      pop::contract::claimOf(context_.instance_index, place_, station_->wait.load(std::memory_order_relaxed));
  const std::span<Station> theirs = stationsOf(context_, instance);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const std::uint32_t wait = theirs[i].wait.load(std::memory_order_acquire);
    const auto number = static_cast<int>(theirs[i].group.load(std::memory_order_relaxed));
    if (wait % 2 == 0 || number == number_ || !isForThisThread(context_, number)) continue;
    station_->claim.store(pop::contract::claimOf(instance, i, wait), std::memory_order_seq_cst);
    if (theirs[i].claim.load(std::memory_order_seq_cst) != own_claim) continue;
    std::string their_call = pop::contract::textOf(theirs[i]);
    if (theirs[i].wait.load(std::memory_order_acquire) == wait) return Other{number, std::move(their_call)};
  }
  return std::nullopt;
}

// The other may wait in any of the groups.
void LongWait::tell(int instance, const exec::Header& note, int members) {
  const bool dials = members <= kMostDialled;
  context_.groups.forEach([&](int number, Group& group) {
    if (told_.contains({number, instance}) || !group.tell(instance, note, dials)) return;
    told_.insert({number, instance});
  });
}

// Others may have heard that this one waits, and not yet that it does so no longer.
void LongWait::over() {
  since_.reset();
  if (station_ != nullptr) pop::contract::leaveStation(*station_);
  station_ = nullptr;
  if (told_.empty()) return;
  exec::Header over = exec::Header::noteOf(number_, {});
  over.key |= exec::Header::kNoLonger;
  for (const auto& [number, instance] : std::exchange(told_, {})) {
    if (number == number_) continue;
    context_.groups.with(number, [&](Group& group) { return group.tell(instance, over, false); });
  }
}

}  // namespace popdist::group
