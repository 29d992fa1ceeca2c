// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "common/sys/awake_clock.h"
#include "libpopdist/src/io/error_edge.h"
#include "libpopdist/src/io/of_this_process.h"
#include "popdist/io.hpp"

namespace popdist::io {
namespace {

using Clock = pop::sys::AwakeClock;

/// Longer waits are cut to this: now + milliseconds::max() would overflow.
constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(24 * 365);
/// AwakeClock requires waits in short turns.
constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(500);

/// False: `longest` has passed, not counting time in which the process was stopped, and `condition` never
/// held.
template <typename Condition>
bool waitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
               std::chrono::milliseconds longest, const Condition& condition) {
  const Clock::time_point deadline = Clock::now() + std::min(longest, kWaitMax);
  while (!condition()) {
    const Clock::duration left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    changed.wait_for(lock, std::min(left, kBetweenLooks));
  }
  return true;
}

class Queue {
 public:
  explicit Queue(const OutfeedOptions& options) : options_(options) {
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
    if (!waitUntil(dequeued_, lock, options_.enqueue_timeout, has_room)) failFull();
    values_.push_back(value);
    enqueued_.notify_one();
  }

  std::vector<float> dequeueAll(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    waitUntil(enqueued_, lock, wait, [&] { return !values_.empty(); });
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

}  // namespace

class Outfeed::Impl : public OfThisProcess<Queue> {
  using OfThisProcess::OfThisProcess;
};

Outfeed::Outfeed(const OutfeedOptions& options) : impl_(std::make_unique<Impl>("outfeed", options)) {}
Outfeed::~Outfeed() = default;
Outfeed::Outfeed(Outfeed&&) noexcept = default;
Outfeed& Outfeed::operator=(Outfeed&&) noexcept = default;

void Outfeed::enqueue(float value) {
  impl_->get("Outfeed.enqueue").enqueue(value);
}
std::vector<float> Outfeed::dequeueAll(std::chrono::milliseconds wait) {
  return impl_->get("Outfeed.dequeueAll").dequeueAll(wait);
}

}  // namespace popdist::io
