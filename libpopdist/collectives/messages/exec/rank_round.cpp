// SPDX-License-Identifier: Apache-2.0
// The steps of a rank's round, and what each of them waits for.
#include <algorithm>

#include "libpopdist/collectives/messages/exec/rank_progress.h"
#include "libpopdist/collectives/reduce/copy.h"

namespace popdist::exec {

using plan::StepKind;

// Local copies are made at once; a block that is in place stays there. Messages without elements are sent
// only if the call asks for them, to show the peers that this rank has none.
void RankProgress::startRound() {
  while (active_.empty() && next_step_ < steps().size()) {
    const std::uint32_t round = steps()[next_step_].round;
    for (; next_step_ < steps().size() && steps()[next_step_].round == round; ++next_step_) {
      const plan::Step& step = steps()[next_step_];
      if (step.count == 0 && (step.kind == StepKind::kCopy || !call_.sends_empty)) continue;
      if (step.kind != StepKind::kCopy)
        active_.push_back({.step = &step, .after = lastOnChannelOf(step), .after_sum = lastSumOf(step)});
      else if (source(step.from) != target(step.to))
        reduce::copyCached(target(step.to), source(step.from), step.count * element_bytes_);
    }
  }
}

template <typename Matches>
std::size_t RankProgress::lastActive(const Matches& matches) const {
  std::size_t index = active_.size();
  while (index-- > 0) {
    if (matches(*active_[index].step)) return index;
  }
  return Active::kNone;
}

// Messages between two ranks keep their order: a step waits for the previous one on the same channel.
std::size_t RankProgress::lastOnChannelOf(const plan::Step& step) const {
  return lastActive([&step](const plan::Step& earlier) {
    return earlier.peer == step.peer && isReceive(earlier.kind) == isReceive(step.kind);
  });
}

// Sums of the same elements are made in the order of the plan. All that a step waits for comes before it, on
// all ranks in the same order, so no circle of ranks can wait.
std::size_t RankProgress::lastSumOf(const plan::Step& step) const {
  if (step.kind != StepKind::kRecvReduce) return Active::kNone;
  return lastActive([&step](const plan::Step& earlier) {
    return earlier.kind == StepKind::kRecvReduce && earlier.to.buffer == step.to.buffer &&
           earlier.to.offset < step.to.offset + step.count &&
           step.to.offset < earlier.to.offset + earlier.count;
  });
}

bool RankProgress::mayMove(const Active& active) const {
  const auto isDone = [this](std::size_t index) {
    return index == Active::kNone || finished(active_[index]);
  };
  return isDone(active.after) && isDone(active.after_sum) && !finished(active);
}

bool RankProgress::poll() {
  bool moved = false;
  for (Active& each : active_) {
    if (mayMove(each)) moved |= advance(each);
  }
  if (!moved) return false;
  if (std::all_of(active_.begin(), active_.end(), [this](const Active& each) { return finished(each); })) {
    active_.clear();
    startRound();
  }
  return true;
}

}  // namespace popdist::exec
