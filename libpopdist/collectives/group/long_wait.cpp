// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/long_wait.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "common/contract/segment.h"
#include "libpopdist/collectives/group/circle.h"
#include "libpopdist/collectives/group/group.h"

namespace popdist::group {
namespace {

using pop::contract::kStationsOfInstance;
using pop::contract::Station;
using Clock = pop::sys::AwakeClock;

constexpr std::chrono::milliseconds kPatience{300};
// Those that have come 200 ms later than this one show their waits, too.
constexpr std::chrono::milliseconds kBeforeSearch{500};
constexpr int kMostDialled = 16;

std::span<Station> stationsOf(const context::ContextState& context) {
  pop::contract::SegmentHeader* const header = context.link->segment().header();
  return pop::contract::stationsOf(header, header->instances);
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
  const std::span<Station> all = stationsOf(context_);
  const std::size_t first = static_cast<std::size_t>(context_.instance_index) * kStationsOfInstance;
  for (std::size_t i = first; i < first + kStationsOfInstance; ++i) {
    if (!pop::contract::enterStation(all[i], static_cast<std::uint32_t>(number_), call)) continue;
    station_ = &all[i];
    own_ = pop::contract::waitOf(i, station_->wait.load(std::memory_order_relaxed));
    return;
  }
}

std::vector<LongWait::Place> LongWait::findCircle(std::span<const int> instances) {
  if (station_ == nullptr) return {};
  showCalls();
  showBlockers(instances);
  if (Clock::now() - *since_ < kBeforeSearch) return {};
  std::vector<Place> found = circle();
  if (found.empty()) search();
  return found;
}

// Threads may come to groups while this one waits, and groups may go.
void LongWait::showCalls() {
  std::uint64_t own = 0;
  std::uint64_t of_others = 0;
  context_.groups.forEach([&](int number, Group& group) {
    const bool is_own = group.isCalledByThisThreadAlone() && group.isUsable();
    (is_own ? own : of_others) |= pop::contract::bitOfGroup(number);
  });
  station_->own_groups.store(own & ~of_others, std::memory_order_release);
  const auto fences = static_cast<std::uint32_t>(context_.fences);
  station_->fences.store(isForThisThread(context_, kFence) ? fences : pop::contract::kFencesOfSeveral,
                         std::memory_order_release);
}

// One that had made this call before it began its own wait has ended this one's wait for it: that is seen
// between two turns.
void LongWait::showBlockers(std::span<const int> instances) {
  std::vector<std::uint64_t> now;
  for (const int instance : instances) append(instance, now);
  auto next = station_->blockers.begin();
  for (const std::uint64_t wait : now)
    if (next != station_->blockers.end() && std::ranges::find(seen_, wait) != seen_.end())
      (next++)->store(wait, std::memory_order_release);
  for (; next != station_->blockers.end(); ++next) next->store(0, std::memory_order_release);
  seen_ = std::move(now);
}

void LongWait::append(int instance, std::vector<std::uint64_t>& waits) const {
  const std::span<const Station> all = stationsOf(context_);
  const std::size_t first = static_cast<std::size_t>(instance) * kStationsOfInstance;
  for (std::size_t i = first; i < first + kStationsOfInstance; ++i) {
    const std::uint32_t wait = all[i].wait.load(std::memory_order_acquire);
    const std::uint64_t name = pop::contract::waitOf(i, wait);
    if (wait % 2 == 1 && isBlockedBy(all[i]) && lasts(all, name)) waits.push_back(name);
  }
}

// That thread alone could make the call that this one waits for.
bool LongWait::isBlockedBy(const Station& theirs) const {
  if (static_cast<int>(theirs.group.load(std::memory_order_relaxed)) == number_) return false;
  if (number_ != kFence)
    return (theirs.own_groups.load(std::memory_order_acquire) & pop::contract::bitOfGroup(number_)) != 0;
  return isForThisThread(context_, kFence) &&
         theirs.fences.load(std::memory_order_acquire) < static_cast<std::uint32_t>(context_.fences);
}

void LongWait::search() {
  const std::span<const Station> all = stationsOf(context_);
  const auto each_lasts = [&](std::uint64_t wait) { return lasts(all, wait); };
  if (!circle_.empty() && std::ranges::all_of(circle_, each_lasts)) return;
  circle_ = circleThrough(all, own_);
  places_.clear();
  for (const std::uint64_t wait : circle_) {
    const std::size_t i = pop::contract::stationOf(wait);
    places_.push_back({static_cast<int>(i / kStationsOfInstance),
                       static_cast<int>(all[i].group.load(std::memory_order_relaxed)),
                       pop::contract::textOf(all[i])});
  }
  if (!std::ranges::all_of(circle_, each_lasts)) {
    circle_.clear();
    places_.clear();
  }
  station_->in_circle.store(circle_.empty() ? 0 : static_cast<std::uint32_t>(own_),
                            std::memory_order_release);
}

// Each hears of it by itself: one that left before would leave the others without a circle.
std::vector<LongWait::Place> LongWait::circle() const {
  if (circle_.empty()) return {};
  const std::span<const Station> all = stationsOf(context_);
  const auto has_found_one = [&](std::uint64_t wait) {
    const Station& station = all[pop::contract::stationOf(wait)];
    return station.in_circle.load(std::memory_order_acquire) == static_cast<std::uint32_t>(wait);
  };
  return std::ranges::all_of(circle_, has_found_one) ? places_ : std::vector<Place>();
}

std::set<int> LongWait::groupsInVain() const {
  std::set<int> groups;
  const std::span<const Station> all = stationsOf(context_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t wait = all[i].wait.load(std::memory_order_acquire);
    if (wait % 2 == 0) continue;
    const auto group = static_cast<int>(all[i].group.load(std::memory_order_relaxed));
    const std::vector<std::uint64_t> blockers = blockersOf(all, pop::contract::waitOf(i, wait));
    if (std::ranges::find(blockers, own_) != blockers.end()) groups.insert(group);
  }
  return groups;
}

// The other may wait in any of the groups.
void LongWait::tell(int instance, const exec::Header& note, int members) {
  const bool dials = members <= kMostDialled;
  context_.groups.forEach([&](int number, Group& group) {
    if (told_.contains({number, instance}) || !group.tell(instance, note, dials)) return;
    told_.insert({number, instance});
  });
}

void LongWait::leave() {
  pop::contract::leaveStation(*station_);
  station_ = nullptr;
  seen_.clear();
  circle_.clear();
  places_.clear();
}

// Others may have heard that this one waits, and not yet that it does so no longer.
void LongWait::over() {
  since_.reset();
  if (station_ != nullptr) leave();
  if (told_.empty()) return;
  exec::Header over = exec::Header::noteOf(number_, {});
  over.key |= exec::Header::kNoLonger;
  for (const auto& [number, instance] : std::exchange(told_, {})) {
    if (number == number_) continue;
    context_.groups.with(number, [&](Group& group) { return group.tell(instance, over, false); });
  }
}

}  // namespace popdist::group
