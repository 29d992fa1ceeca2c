// SPDX-License-Identifier: Apache-2.0
// Queues the commands of a call, in order, until a listener is set.
#pragma once

#include <deque>
#include <utility>

#include "common/wire/agent_call.h"

namespace pop::wire {

/// The receiving half of a RunCall.
class CommandInbox {
 public:
  void listen(RunCall::Events events) {
    events_ = std::move(events);
    while (!waiting_.empty() && events_.command) {
      v1::Command command = std::move(waiting_.front());
      waiting_.pop_front();
      events_.command(std::move(command));
    }
    if (closed_ && events_.closed) events_.closed();
  }

  void receive(v1::Command command) {
    if (closed_) return;
    if (events_.command) return events_.command(std::move(command));
    waiting_.push_back(std::move(command));
  }

  /// No more commands will follow.
  void close() {
    if (std::exchange(closed_, true)) return;
    if (events_.closed) events_.closed();
  }

 private:
  RunCall::Events events_;
  std::deque<v1::Command> waiting_;
  bool closed_ = false;
};

}  // namespace pop::wire
