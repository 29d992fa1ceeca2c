// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/group/crossing.h"

#include <algorithm>
#include <chrono>

#include "common/contract/segment.h"
#include "libpopdist/src/group/group.h"

namespace popdist::group {
namespace {

using pop::contract::Station;
using Clock = pop::sys::AwakeClock;

constexpr std::chrono::milliseconds kPatience{300};
// In a larger group notes are sent over connections that are there.
constexpr int kMostDialled = 16;

std::span<Station> stationsOf(const context::ContextState& context, int instance) {
  pop::contract::SegmentHeader* const header = context.link->segment().header();
  return pop::contract::stationsOf(header, header->instances)
      .subspan(static_cast<std::size_t>(instance) * pop::contract::kStationsOfInstance,
               pop::contract::kStationsOfInstance);
}

std::string textOfWaits(int first, const std::string& first_call, int second,
                        const std::string& second_call) {
  return "the calls differ, and each waits for the other: instance " + std::to_string(first) + " is in " +
         first_call + ", instance " + std::to_string(second) + " in " + second_call +
         ": make the same calls in the same order on all instances";
}

}  // namespace

std::optional<exec::PeerLoss> Crossing::find(std::span<const int> awaited) {
  const Clock::time_point now = Clock::now();
  if (!since_) since_ = now;
  if (now - *since_ < kPatience) return std::nullopt;
  if (station_ == nullptr) enter();
  const context::ContextState& context = members_.context();
  bool are_all_here = true;
  for (const int rank : awaited) {
    const int instance = members_.instanceOf(first_rank_ + rank);
    are_all_here &= context.isLocal(instance);
    if (station_ == nullptr || instance == context.instance_index || !context.isLocal(instance)) continue;
    if (auto found = findOnHost(instance)) return found;
  }
  if (!are_all_here) tellOthers(awaited);
  return std::nullopt;
}

// Others may have heard that this one waits, and not yet that it does so no longer.
void Crossing::over() {
  since_.reset();
  if (station_ != nullptr) pop::contract::leaveStation(*station_);
  station_ = nullptr;
  if (told_.empty()) return;
  const exec::Header over{.message_bytes = static_cast<std::uint64_t>(members_.number()),
                          .key = exec::Header::kWaits | exec::Header::kNoLonger};
  for (const auto& [number, instance] : std::exchange(told_, {})) {
    if (number == members_.number()) continue;
    members_.context().groups.with(number, [&](Group& group) { return group.tell(instance, over, false); });
  }
}

std::string Crossing::ownCall() const {
  std::string text;
  members_.context().groups.with(members_.number(), [&](Group& group) {
    text = group.currentCall();
    return true;
  });
  return text;
}

void Crossing::enter() {
  const context::ContextState& context = members_.context();
  const std::string text = ownCall();
  const std::span<Station> own = stationsOf(context, context.instance_index);
  for (place_ = 0; place_ < own.size() && station_ == nullptr; ++place_) {
    if (pop::contract::enterStation(own[place_], static_cast<std::uint32_t>(members_.number()), text)) {
      station_ = &own[place_];
      return;
    }
  }
}

// All without which the call cannot end: it may be another one's message that keeps the one from coming that
// is awaited.
void Crossing::tellOthers(std::span<const int> awaited) {
  const context::ContextState& context = members_.context();
  exec::Header note;
  std::set<int> instances;
  context.groups.with(members_.number(), [&](Group& group) {
    note = group.note();
    for (int rank = 0; note.isNote() && rank < members_.size(); ++rank)
      if (group.needs(rank) || std::ranges::find(awaited, rank - first_rank_) != awaited.end())
        instances.insert(members_.instanceOf(rank));
    return true;
  });
  for (const int instance : instances)
    if (!context.isLocal(instance)) tell(instance, note);
}

// On the connections of every group that has both, since the other may wait in any of them.
void Crossing::tell(int instance, const exec::Header& note) {
  const bool dials = members_.size() <= kMostDialled;
  members_.context().groups.forEach([&](int number, Group& group) {
    if (told_.contains({number, instance}) || !group.tell(instance, note, dials)) return;
    told_.insert({number, instance});
  });
}

// The other one's call is not over as long as this instance has not made it.
std::optional<exec::PeerLoss> Crossing::findWith(int rank, const exec::Header& note, bool is_awaited) {
  context::Groups& groups = members_.context().groups;
  const auto is_needed = [&](Group& group) { return is_awaited || group.needs(rank); };
  const auto is_mine = [&](Group& group) {
    return group.isUsable() && group.isCalledByThisThreadAlone() && note.laterThan(group.callsBegun()) >= 0;
  };
  if (!groups.with(members_.number(), is_needed) || !groups.with(note.groupOfNote(), is_mine))
    return std::nullopt;
  const exec::Header call = note.callOfNote(0);
  return found(note.groupOfNote(), members_.instanceOf(first_rank_ + rank), ownCall(),
               exec::describeCall(call.key, call.count, call.tensorName()));
}

std::optional<exec::PeerLoss> Crossing::findOnHost(int instance) {
  const context::ContextState& context = members_.context();
  const std::uint64_t own_claim =
      pop::contract::claimOf(context.instance_index, place_, station_->wait.load(std::memory_order_relaxed));
  const std::span<Station> theirs = stationsOf(context, instance);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const std::uint32_t wait = theirs[i].wait.load(std::memory_order_acquire);
    const auto number = static_cast<int>(theirs[i].group.load(std::memory_order_relaxed));
    if (wait % 2 == 0 || number == members_.number()) continue;
    const auto is_mine = [](Group& group) { return group.isCalledByThisThreadAlone(); };
    if (!context.groups.with(number, is_mine)) continue;
    station_->claim.store(pop::contract::claimOf(instance, i, wait), std::memory_order_seq_cst);
    if (theirs[i].claim.load(std::memory_order_seq_cst) != own_claim) continue;
    const std::string their_call = pop::contract::textOf(theirs[i]);
    if (theirs[i].wait.load(std::memory_order_acquire) != wait) continue;
    return found(number, instance, pop::contract::textOf(*station_), their_call);
  }
  return std::nullopt;
}

// Those who wait in the other group hear it there.
exec::PeerLoss Crossing::found(int group, int instance, const std::string& own_call,
                               const std::string& their_call) {
  const int own = members_.context().instance_index;
  const std::string text = own < instance ? textOfWaits(own, own_call, instance, their_call)
                                          : textOfWaits(instance, their_call, own, own_call);
  members_.context().groups.with(group, [&](Group& other) {
    other.abandon({.status = pop::failedPrecondition(text), .peer_instance = own, .heard = false});
    return true;
  });
  return {instance, text, pop::Code::kFailedPrecondition};
}

}  // namespace popdist::group
