// SPDX-License-Identifier: Apache-2.0
// gRPC takes one message of a stream at a time: the others wait here, in order. From any thread.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace pop::rpc {

/// `Reactor` has StartWrite(const Message*).
template <typename Reactor, typename Message>
class WriteQueue {
 public:
  explicit WriteQueue(Reactor& reactor) : reactor_(reactor) {}

  void push(Message message) {
    const std::scoped_lock lock(mutex_);
    if (closed_ || broken_) return;
    messages_.push_back(std::move(message));
    if (messages_.size() == 1) reactor_.StartWrite(&messages_.front());
  }

  /// OnWriteDone. False: the stream is broken, nothing more can be written.
  void written(bool ok) {
    const std::scoped_lock lock(mutex_);
    messages_.pop_front();
    broken_ = broken_ || !ok;
    if (broken_) messages_.clear();
    if (!messages_.empty()) return reactor_.StartWrite(&messages_.front());
    if (finish_) std::exchange(finish_, nullptr)();
  }

  /// `finish` after all that is queued. The first call counts.
  void close(std::function<void()> finish) {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    if (messages_.empty()) return finish();
    finish_ = std::move(finish);
  }

 private:
  Reactor& reactor_;
  std::mutex mutex_;
  std::deque<Message> messages_;  ///< the first is being written
  bool closed_ = false;
  bool broken_ = false;
  std::function<void()> finish_;
};

}  // namespace pop::rpc
