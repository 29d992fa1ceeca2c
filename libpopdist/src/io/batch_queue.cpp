// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/batch_queue.h"

#include <utility>

namespace popdist::io {

BatchQueue::BatchQueue(std::size_t depth) : depth_(depth) {
  free_.reserve(depth + 1);  // all there can be, so that giving one back never allocates
}

void BatchQueue::startEpoch(std::uint64_t epoch) {
  const std::scoped_lock lock(mutex_);
  ++generation_;
  epoch_ = epoch;
  outcome_.reset();
  if (held_) free_.push_back(std::move(held_));
  for (auto& batch : ready_) free_.push_back(std::move(batch));
  ready_.clear();
  for_producer_.notify_one();
}

pop::Result<const Batch*> BatchQueue::next() {
  std::unique_lock lock(mutex_);
  if (generation_ == 0) return pop::failedPrecondition("no epoch was started: call startEpoch() first");
  if (held_) free_.push_back(std::move(held_));
  for_consumer_.wait(lock, [&] { return !ready_.empty() || outcome_; });
  if (ready_.empty()) {
    if (!outcome_->ok()) return *outcome_;
    return static_cast<const Batch*>(nullptr);
  }
  held_ = std::move(ready_.front());
  ready_.pop_front();
  for_producer_.notify_one();
  return held_.get();
}

void BatchQueue::close() {
  const std::scoped_lock lock(mutex_);
  ++generation_;
  closed_ = true;
  for_producer_.notify_one();
}

std::optional<BatchQueue::Ticket> BatchQueue::awaitEpoch() {
  std::unique_lock lock(mutex_);
  for_producer_.wait(lock, [&] { return closed_ || generation_ != announced_; });
  if (closed_) return std::nullopt;
  announced_ = generation_;
  return Ticket{announced_, epoch_};
}

std::unique_ptr<Batch> BatchQueue::acquire(const Ticket& ticket) {
  std::unique_lock lock(mutex_);
  for_producer_.wait(lock, [&] { return isStale(ticket) || ready_.size() < depth_; });
  if (isStale(ticket)) return nullptr;
  if (free_.empty()) return std::make_unique<Batch>();
  auto batch = std::move(free_.back());
  free_.pop_back();
  return batch;
}

void BatchQueue::publish(const Ticket& ticket, std::unique_ptr<Batch> batch) {
  const std::scoped_lock lock(mutex_);
  if (isStale(ticket)) {
    free_.push_back(std::move(batch));
    return;
  }
  ready_.push_back(std::move(batch));
  for_consumer_.notify_one();
}

void BatchQueue::finish(const Ticket& ticket, pop::Status outcome) {
  const std::scoped_lock lock(mutex_);
  if (isStale(ticket)) return;
  outcome_ = std::move(outcome);
  for_consumer_.notify_one();
}

}  // namespace popdist::io
