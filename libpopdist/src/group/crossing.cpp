// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/group/crossing.h"

#include <chrono>

#include "common/contract/segment.h"
#include "libpopdist/src/group/group.h"

namespace popdist::group {
namespace {

using pop::contract::Station;
using Clock = pop::sys::AwakeClock;

constexpr std::chrono::milliseconds kPatience{300};

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
  if (station_ == nullptr) return std::nullopt;
  for (const int rank : awaited) {
    const int instance = members_.instanceOf(first_rank_ + rank);
    if (instance == members_.context().instance_index || !members_.context().isLocal(instance)) continue;
    if (auto found = findWith(instance)) return found;
  }
  return std::nullopt;
}

void Crossing::over() {
  since_.reset();
  if (station_ != nullptr) pop::contract::leaveStation(*station_);
  station_ = nullptr;
}

void Crossing::enter() {
  const context::ContextState& context = members_.context();
  std::string text;
  context.groups.with(members_.number(), [&](Group& group) {
    text = group.currentCall();
    return true;
  });
  const std::span<Station> own = stationsOf(context, context.instance_index);
  for (place_ = 0; place_ < own.size() && station_ == nullptr; ++place_) {
    if (pop::contract::enterStation(own[place_], static_cast<std::uint32_t>(members_.number()), text)) {
      station_ = &own[place_];
      return;
    }
  }
}

std::optional<exec::PeerLoss> Crossing::findWith(int instance) {
  const context::ContextState& context = members_.context();
  const int own = context.instance_index;
  const std::uint64_t own_claim =
      pop::contract::claimOf(own, place_, station_->wait.load(std::memory_order_relaxed));
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
    const std::string own_call = pop::contract::textOf(*station_);
    const std::string text = own < instance ? textOfWaits(own, own_call, instance, their_call)
                                            : textOfWaits(instance, their_call, own, own_call);
    context.groups.with(number, [&](Group& group) {
      group.abandon({.status = pop::failedPrecondition(text), .peer_instance = own, .heard = false});
      return true;
    });
    return exec::PeerLoss{instance, text, pop::Code::kFailedPrecondition};
  }
  return std::nullopt;
}

}  // namespace popdist::group
