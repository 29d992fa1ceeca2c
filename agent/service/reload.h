// SPDX-License-Identifier: Apache-2.0
// Reads what a service serves by once more, while it goes on serving: users are looked up in directories on
// other hosts, which may take their time.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

#include "common/base/loop.h"

namespace pop::agent {

/// On the loop's thread, but for `read`.
class Reload {
 public:
  using Task = std::function<void()>;
  /// Reads, on a thread of its own, and says what is to be done with it on the loop's. It should come to an
  /// end soon when `stop` asks for it: what it has read does not matter any more.
  using Read = std::function<Task(const std::stop_token& stop)>;

  /// `loop` outlives it.
  Reload(Loop& loop, Read read) : loop_(loop), read_(std::move(read)) {}
  ~Reload() { stop(); }  ///< when the loop does not run any more; waits for `read`
  Reload(const Reload&) = delete;
  Reload& operator=(const Reload&) = delete;

  /// One at a time: what is asked for meanwhile is done once more afterwards, however often that was.
  void start();

  /// Nothing is read any more, nor done with what was.
  void stop();

 private:
  void finish(const Task& task);

  Loop& loop_;
  const Read read_;
  bool runs_ = false;
  bool again_ = false;
  bool stopped_ = false;
  std::jthread thread_;
};

}  // namespace pop::agent
