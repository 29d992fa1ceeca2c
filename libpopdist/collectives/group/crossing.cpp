// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/crossing.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <set>

#include "libpopdist/collectives/group/group.h"

namespace popdist::group {
namespace {

// Instances in a fence are told of a call that is none at once.
constexpr std::chrono::milliseconds kTellsFence{1000};

std::string textOf(const LongWait::Place& place) {
  return place.group == kFence ? place.call : place.call + " on communicator " + std::to_string(place.group);
}

// Begins with the lowest instance: the same text for all.
std::string textOf(std::vector<LongWait::Place> circle) {
  std::ranges::rotate(circle, std::ranges::min_element(circle, {}, &LongWait::Place::instance));
  std::string text = std::string("the calls differ, and each waits for the ") +
                     (circle.size() == 2 ? "other" : "next, the last for the first") + ": ";
  for (const LongWait::Place& each : circle) {
    const bool is_first = &each == &circle.front();
    text += std::string(is_first ? "" : ", ") + "instance " + std::to_string(each.instance) +
            (is_first ? " is in " : " in ") + textOf(each);
  }
  return text + ": make the same calls in the same order on all instances";
}

exec::PeerLoss lossOf(const std::vector<LongWait::Place>& circle) {
  return {circle[1].instance, textOf(circle), pop::Code::kFailedPrecondition};
}

}  // namespace

Crossing::Crossing(const Members& members, int first_rank)
    : members_(members), first_rank_(first_rank), wait_(members.context(), members.number()) {}

std::optional<exec::PeerLoss> Crossing::find(std::span<const int> awaited) {
  if (!wait_.isLong()) return std::nullopt;
  wait_.show([this] { return ownCall(); });
  const context::ContextState& context = members_.context();
  std::vector<int> here;
  for (const int rank : awaited) {
    const int instance = members_.instanceOf(first_rank_ + rank);
    if (context.isLocal(instance) && instance != context.instance_index) here.push_back(instance);
  }
  const auto circle = wait_.findCircle(here);
  if (!circle.empty()) return lossOf(circle);
  const auto is_here = [&](int rank) { return context.isLocal(members_.instanceOf(first_rank_ + rank)); };
  if (!std::ranges::all_of(awaited, is_here)) tellOthers(awaited);
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
  const std::vector<LongWait::Place> circle{
      {context.instance_index, members_.number(), ownCall()},
      {members_.instanceOf(first_rank_ + rank), number,
       number == kFence ? callOfFence(name) : exec::describeCall(call.key, call.count, name)}};
  tell({number}, textOf(circle));
  return lossOf(circle);
}

// One that hears of the circle from another tells others, too.
void Crossing::over() {
  const auto circle = wait_.circle();
  if (!circle.empty()) tell(wait_.groupsInVain(), textOf(circle));
  wait_.over();
}

// The fence may take longer.
void Crossing::tell(const std::set<int>& groups, const std::string& why) const {
  const context::ContextState& context = members_.context();
  for (const int number : groups | std::views::reverse) {
    if (!isForThisThread(context, number)) continue;
    if (number == kFence) {
      static_cast<void>(context.link->fence(ownCall(), kTellsFence, {}));
      continue;
    }
    context.groups.with(number, [&](Group& group) {
      group.abandon(
          {.status = pop::failedPrecondition(why), .peer_instance = context.instance_index, .heard = false});
      return true;
    });
  }
}

}  // namespace popdist::group
