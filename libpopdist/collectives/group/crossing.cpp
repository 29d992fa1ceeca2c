// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/crossing.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "libpopdist/collectives/group/group.h"

namespace popdist::group {
namespace {

// Instances in a fence are told of a call that is none at once.
constexpr std::chrono::milliseconds kTellsFence{1000};

std::string textOfWaits(int first, const std::string& first_call, int second,
                        const std::string& second_call) {
  return "the calls differ, and each waits for the other: instance " + std::to_string(first) + " is in " +
         first_call + ", instance " + std::to_string(second) + " in " + second_call +
         ": make the same calls in the same order on all instances";
}

}  // namespace

Crossing::Crossing(const Members& members, int first_rank)
    : members_(members), first_rank_(first_rank), wait_(members.context(), members.number()) {}

std::optional<exec::PeerLoss> Crossing::find(std::span<const int> awaited) {
  if (!wait_.isLong()) return std::nullopt;
  wait_.show([this] { return ownCall(); });
  const context::ContextState& context = members_.context();
  bool are_all_here = true;
  for (const int rank : awaited) {
    const int instance = members_.instanceOf(first_rank_ + rank);
    are_all_here &= context.isLocal(instance);
    if (instance == context.instance_index || !context.isLocal(instance)) continue;
    if (const auto other = wait_.findOnHost(instance)) return found(instance, *other);
  }
  if (!are_all_here) tellOthers(awaited);
  return std::nullopt;
}

std::string Crossing::ownCall() const {
  std::string text;
  members_.context().groups.with(members_.number(), [&](Group& group) {
    text = group.currentCall();
    return true;
  });
  return text;
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
    if (!context.isLocal(instance)) wait_.tell(instance, note, members_.size());
}

// The other one's call is not over as long as this instance has not made it.
std::optional<exec::PeerLoss> Crossing::findWith(int rank, const exec::Header& note, bool is_awaited) {
  const context::ContextState& context = members_.context();
  const int number = note.groupOfNote();
  const auto is_needed = [&](Group& group) { return is_awaited || group.needs(rank); };
  std::uint64_t begun = context.fences;
  const auto count_begun = [&](Group& group) {
    begun = group.callsBegun();
    return true;
  };
  if (!context.groups.with(members_.number(), is_needed) || !isForThisThread(context, number) ||
      (number != kFence && !context.groups.with(number, count_begun)) || note.laterThan(begun) < 0)
    return std::nullopt;
  const exec::Header call = note.callOfNote(begun);
  const std::string name(call.tensorName());
  return found(
      members_.instanceOf(first_rank_ + rank),
      {number, number == kFence ? callOfFence(name) : exec::describeCall(call.key, call.count, name)});
}

// Instances that wait in the other group, or in the fence, hear it there.
exec::PeerLoss Crossing::found(int instance, const LongWait::Other& other) {
  const context::ContextState& context = members_.context();
  const int own = context.instance_index;
  const std::string own_call = ownCall();
  const std::string text = own < instance ? textOfWaits(own, own_call, instance, other.call)
                                          : textOfWaits(instance, other.call, own, own_call);
  if (other.group == kFence) {
    static_cast<void>(context.link->fence(own_call, kTellsFence, {}));
  } else {
    context.groups.with(other.group, [&](Group& group) {
      group.abandon({.status = pop::failedPrecondition(text), .peer_instance = own, .heard = false});
      return true;
    });
  }
  return {instance, text, pop::Code::kFailedPrecondition};
}

}  // namespace popdist::group
