// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/host_fence.h"

#include <utility>
#include <vector>

#include "common/base/text.h"

namespace pop::agent {
namespace {

// An answer must not exceed a frame, however long the instance's tag is.
constexpr std::size_t kShownTagBytes = 200;

}  // namespace

HostFence::HostFence(Loop& loop, HostSegment& segment, FenceMembers& members, std::set<int> instances,
                     bool all_are_here)
    : loop_(loop),
      segment_(segment),
      members_(members),
      instances_(std::move(instances)),
      all_are_here_(all_are_here),
      fence_(instances_.size()) {}

HostFence::~HostFence() {
  for (const auto& [instance, member] : connected_) loop_.cancel(member.timer);
}

// An entry that an earlier process of this instance left in its slot does not belong to this process.
void HostFence::join(int instance) {
  Member& member = connected_[instance];
  member.entry = segment_.lastEntry(instance);
  segment_.answer(instance, member.entry, false);
}

void HostFence::leave(int instance) {
  fence_.leave(instance);
  loop_.cancel(connected_.at(instance).timer);
  connected_.erase(instance);
}

bool HostFence::enter(int instance, std::chrono::milliseconds timeout, std::string tag) {
  if (isInside(instance)) return false;
  takeEntries();
  connected_.at(instance) = {.entry = segment_.lastEntry(instance),
                             .timer = loop_.postAfter(timeout, [this, instance] { timeIsUp(instance); })};
  fence_.enter(instance, std::move(tag));
  settle(instance);
  return true;
}

void HostFence::look(int instance) {
  if (takeEntries()) settle(instance);
}

// True if an instance has entered through its slot since the last check.
bool HostFence::takeEntries() {
  bool any = false;
  for (auto& [instance, member] : connected_) {
    if (!members_.readsAnswers(instance)) continue;
    std::optional<HostSegment::Entry> entry = segment_.entryAfter(member.entry, instance);
    if (!entry || isInside(instance)) continue;
    member = {.entry = entry->number, .in_slot = true};
    fence_.enter(instance, std::move(entry->tag));
    any = true;
  }
  return any;
}

// Some instances have entered; `newest` may be the last of them.
void HostFence::settle(int newest) {
  if (broken_) return fail(*broken_);
  const std::map<int, std::string>& inside = fence_.inside();
  const auto found = inside.find(newest);
  const auto& [instance, tag] = found == inside.end() ? *inside.begin() : *found;
  for (const auto& [other, other_tag] : inside) {
    if (other_tag == tag) continue;
    return fail({Code::kFailedPrecondition, instance,
                 "the instances are in different calls: instance " + std::to_string(other) + " in " +
                     inQuotes(other_tag.substr(0, kShownTagBytes)) + ", instance " +
                     std::to_string(instance) + " in " + inQuotes(tag.substr(0, kShownTagBytes))});
  }
  if (fence_.complete()) reach();
}

// Values for other hosts are sent over a link with a limit. The limit is enforced here, where only one call
// fails; at the other end the whole host would be lost.
void HostFence::reach() {
  PutValues values = fence_.collect();
  if (!all_are_here_ && !bytes_.add(values)) {
    return fail({Code::kResourceExhausted, -1,
                 "the instances of this host have put more than 64 MiB for one fence (Context::put)"});
  }
  members_.fenceReached(std::move(values));
}

void HostFence::late(int instance, const std::string& entry) {
  look(instance);
  const Member& member = connected_.at(instance);
  if (isInside(instance) && member.in_slot && entry == std::to_string(member.entry)) timedOut(instance);
}

// The deadline of an entry by message has passed. Instances that have entered through their slots meanwhile
// are not missing.
void HostFence::timeIsUp(int instance) {
  look(instance);
  if (isInside(instance)) timedOut(instance);
}

void HostFence::timedOut(int instance) {
  Member& member = connected_.at(instance);
  fence_.leave(instance);
  member.gave_up = true;
  answer(instance, member, whoIsMissing(instance));
  wakeWaiters();
}

// The error of a fence that `instance` leaves. If all instances are or have been inside, those that have left
// are missing.
FenceError HostFence::whoIsMissing(int instance) const {
  std::vector<int> missing;
  std::vector<int> gone;
  for (const int each : instances_) {
    if (each == instance || isInside(each)) continue;
    (gaveUp(each) ? gone : missing).push_back(each);
  }
  const auto has = [](const std::vector<int>& instances) {
    std::vector<std::string> names;
    for (const int each : instances) names.push_back(std::to_string(each));
    return names.size() == 1 ? "instance " + names[0] + " has"
                             : "instances " + pop::join(names, ", ") + " have";
  };
  const auto late = [](int first, const std::string& why) {
    return FenceError{Code::kDeadlineExceeded, first, why + " (Context::setTimeout)"};
  };
  if (!missing.empty()) return late(missing.front(), has(missing) + " not entered the fence in time");
  if (all_are_here_ && !gone.empty()) return late(gone.front(), has(gone) + " given up waiting in the fence");
  return late(-1, "an instance on another host has not entered the fence in time");
}

bool HostFence::gaveUp(int instance) const {
  const auto found = connected_.find(instance);
  return found != connected_.end() && found->second.gave_up;
}

void HostFence::release(const PutValues& values) {
  bytes_.reset();
  const std::map<int, std::string> inside = fence_.release(values);
  for (auto& [instance, member] : connected_) {
    if (inside.contains(instance)) answer(instance, member, std::nullopt);
  }
  wakeWaiters();
}

void HostFence::breakBy(const EndNotice& end_notice) {
  const FenceError error{Code::kUnavailable, end_notice.instance, end_notice.text};
  if (!broken_) broken_ = error;
  takeEntries();
  fail(error);
}

// All instances inside continue with an error.
void HostFence::fail(const FenceError& error) {
  for (auto& [instance, member] : connected_) {
    if (!isInside(instance)) continue;
    fence_.leave(instance);
    answer(instance, member, error);
  }
  wakeWaiters();
}

// Errors are always sent as messages, before the word in the slot that announces them.
void HostFence::answer(int instance, Member& member, const std::optional<FenceError>& error) {
  loop_.cancel(member.timer);
  if (error) {
    members_.fenceFailed(instance, *error);
  } else if (!member.in_slot) {
    members_.fenceReleased(instance);
  }
  segment_.answer(instance, member.entry, error.has_value());
  waiters_answered_ = waiters_answered_ || member.in_slot;
}

void HostFence::wakeWaiters() {
  if (std::exchange(waiters_answered_, false)) segment_.wakeWaiters();
}

}  // namespace pop::agent
