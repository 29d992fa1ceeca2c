// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/feeds/feed_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libpopdist/data/feeds/awake_wait.h"

namespace popdist::io {
FeedQueue::FeedQueue(const Node& node, int replicas, int depth, std::chrono::milliseconds turn_timeout)
    : node_(node),
      is_sequence_(node.isSequence()),
      turn_timeout_(turn_timeout),
      lanes_(static_cast<std::size_t>(replicas)) {
  for (Lane& lane : lanes_) lane.slots = std::vector<Slot>(static_cast<std::size_t>(depth) + 1);
}

void FeedQueue::start(Position position) {
  std::unique_lock lock(mutex_);
  begin(lock, position);
}

void FeedQueue::begin(std::unique_lock<std::mutex>& lock, Position position) {
  const std::uint64_t elements = is_sequence_ ? kEndless : node_.extent().value_or(kEndless);
  is_started_ = false;
  cancelled_ = true;
  for_start_.wait(lock, [&] { return claims_in_hand_ == 0; });
  cancelled_ = false;
  is_started_ = true;
  epoch_ = position.epoch;
  elements_read_ = position.step * lanes_.size();
  end_ = elements != kEndless ? elements / lanes_.size() : kEndless;
  for (Lane& lane : lanes_) {
    lane.taken = lane.claimed = position.step;
    lane.failed_at.reset();
    for (Slot& slot : lane.slots) slot.is_read = false;
  }
  for_threads_.notify_all();
}

pop::Result<const Tensors*> FeedQueue::next(int replica) {
  std::unique_lock lock(mutex_);
  if (!is_started_) begin(lock, {});
  Lane& lane = lanes_[static_cast<std::size_t>(replica)];
  if (!isThere(lane)) POP_RETURN_IF_ERROR(awaitStep(lock, lane));
  if (lane.taken >= end_) return static_cast<const Tensors*>(nullptr);
  if (isFailed(lane)) return lane.failure;
  Slot& slot = lane.slotOf(lane.taken);
  slot.is_read = false;
  ++lane.taken;
  // To wake a thread costs more than all the rest: not for each element.
  if (waiting_ > 0 || lane.claimed - lane.taken <= (lane.slots.size() - 1) / 4) for_threads_.notify_one();
  return &*std::as_const(slot.element);
}

bool FeedQueue::isThere(Lane& lane) const {
  if (is_sequence_) return elements_read_ / lanes_.size() > lane.taken;
  return lane.slotOf(lane.taken).is_read;
}

pop::Status FeedQueue::awaitStep(std::unique_lock<std::mutex>& lock, Lane& lane) {
  const auto is_answered = [&] { return isThere(lane) || isFailed(lane) || lane.taken >= end_; };
  ++waiting_;
  for_threads_.notify_one();
  while (!is_answered()) {
    // Only while nothing can be read does time count: a slow dataset is no standstill.
    const auto may_go_on = [&] { return is_answered() || claims_in_hand_ > 0 || replicaToReadFor(); };
    if (may_go_on())
      for_replicas_.wait(lock);
    else if (!waitAwake(for_replicas_, lock, turn_timeout_, may_go_on))
      break;
  }
  --waiting_;
  return is_answered() ? pop::Status() : heldUp(lane);
}

pop::Status FeedQueue::heldUp(const Lane& lane) const {
  const auto slowest = std::min_element(lanes_.begin(), lanes_.end(),
                                        [](const Lane& a, const Lane& b) { return a.taken < b.taken; });
  return {pop::Code::kDeadlineExceeded,
          "step " + std::to_string(lane.taken) + " comes after elements of replica " +
              std::to_string(slowest - lanes_.begin()) + ", which has taken no more than " +
              std::to_string(slowest->taken) + " for " + std::to_string(turn_timeout_.count()) +
              " ms (InfeedOptions::turn_timeout): the elements come in sequence, so replicas take theirs in "
              "turns, no more than the prefetch "
              "depth (" +
              std::to_string(lane.slots.size() - 1) + ") apart; or cache() the dataset"};
}

Position FeedQueue::position(int replica) const {
  const std::scoped_lock lock(mutex_);
  return {epoch_, lanes_[static_cast<std::size_t>(replica)].taken};
}

void FeedQueue::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  cancelled_ = true;
  for_threads_.notify_all();
}

bool FeedQueue::hasRoom(const Lane& lane) const {
  return !lane.failed_at && lane.claimed < end_ && lane.claimed < lane.taken + lane.slots.size() - 1;
}

std::optional<std::size_t> FeedQueue::replicaToReadFor() const {
  if (!is_started_) return std::nullopt;
  // The first of those that are furthest behind: the order of a sequence.
  const auto behind = [](const Lane& a, const Lane& b) { return a.claimed < b.claimed; };
  auto lane = std::min_element(lanes_.begin(), lanes_.end(), behind);
  if (!hasRoom(*lane) && !is_sequence_)
    lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& other) { return hasRoom(other); });
  if (lane == lanes_.end() || !hasRoom(*lane)) return std::nullopt;
  return lane - lanes_.begin();
}

std::optional<FeedQueue::Claim> FeedQueue::claim() {
  std::unique_lock lock(mutex_);
  std::optional<std::size_t> replica;
  for_threads_.wait(lock, [&] { return is_closed_ || (replica = replicaToReadFor()); });
  if (is_closed_) return std::nullopt;
  Lane& lane = lanes_[*replica];
  const Claim claim{epoch_, lane.claimed, *replica, &lane.slotOf(lane.claimed).element};
  ++lane.claimed;
  ++claims_in_hand_;
  if (replicaToReadFor()) for_threads_.notify_one();
  return claim;
}

void FeedQueue::finish(const Claim& claim, pop::Result<Outcome> outcome) {
  const std::scoped_lock lock(mutex_);
  --claims_in_hand_;
  if (cancelled_) {
    for_start_.notify_all();
    return;
  }
  const auto fail = [&](Lane& lane) {
    if (lane.failed_at && *lane.failed_at <= claim.step) return;
    lane.failed_at = claim.step;
    lane.failure = outcome.status();
  };
  if (!outcome.ok()) {
    // A step of a sequence that is not whole is none, for all.
    for (std::size_t replica = 0; replica < lanes_.size(); ++replica)
      if (is_sequence_ || replica == claim.replica) fail(lanes_[replica]);
  } else if (*outcome == Outcome::kEnd) {
    end_ = std::min(end_, claim.step);
  } else {
    lanes_[claim.replica].slotOf(claim.step).is_read = true;
    ++elements_read_;
  }
  for_replicas_.notify_all();
}

}  // namespace popdist::io
