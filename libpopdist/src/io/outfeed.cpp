// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "libpopdist/src/io/error_edge.h"
#include "popdist/io.hpp"

namespace popdist::io {
namespace {

/// Longer waits are cut to this: now + milliseconds::max() would overflow.
constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(24 * 365);

}  // namespace

class Outfeed::Impl {
 public:
  explicit Impl(const OutfeedOptions& options) : options_(options) {
    if (options.capacity < 1) {
      throwIfError(pop::invalidArgument("capacity is 0, expected 1 or more"), "Outfeed");
    }
    if (options.enqueue_timeout.count() < 0) {
      throwIfError(
          pop::invalidArgument("enqueue_timeout is " + std::to_string(options.enqueue_timeout.count()) +
                               " ms, expected 0 or more"),
          "Outfeed");
    }
    if (options.mode == OutfeedMode::kLast) options_.capacity = 1;
  }

  void enqueue(float value) {
    std::unique_lock lock(mutex_);
    if (options_.mode == OutfeedMode::kLast) values_.clear();
    const auto has_room = [&] { return values_.size() < options_.capacity; };
    if (!dequeued_.wait_for(lock, std::min(options_.enqueue_timeout, kWaitMax), has_room)) failFull();
    values_.push_back(value);
    enqueued_.notify_one();
  }

  std::vector<float> dequeueAll(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    enqueued_.wait_for(lock, std::min(wait, kWaitMax), [&] { return !values_.empty(); });
    dequeued_.notify_all();
    return std::exchange(values_, {});
  }

 private:
  void failFull() const {
    throwIfError({pop::Code::kDeadlineExceeded,
                  "the queue has been full (" + std::string("capacity ") + std::to_string(options_.capacity) +
                      ") for " + std::to_string(options_.enqueue_timeout.count()) +
                      " ms and nobody dequeues: call dequeueAll() more often or in another thread, raise "
                      "OutfeedOptions::capacity, or use OutfeedMode::kLast"},
                 "Outfeed.enqueue");
  }

  OutfeedOptions options_;
  std::mutex mutex_;
  std::condition_variable enqueued_;
  std::condition_variable dequeued_;
  std::vector<float> values_;  // oldest first
};

Outfeed::Outfeed(const OutfeedOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Outfeed::~Outfeed() = default;
Outfeed::Outfeed(Outfeed&&) noexcept = default;
Outfeed& Outfeed::operator=(Outfeed&&) noexcept = default;

void Outfeed::enqueue(float value) {
  impl_->enqueue(value);
}
std::vector<float> Outfeed::dequeueAll(std::chrono::milliseconds wait) {
  return impl_->dequeueAll(wait);
}

}  // namespace popdist::io
