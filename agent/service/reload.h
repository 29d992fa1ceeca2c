// SPDX-License-Identifier: Apache-2.0
// Reloads a service's configuration while the service runs: users are looked up in directories on other
// hosts, which can be slow.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

#include "common/base/loop.h"

namespace pop::agent {

/// Lives on the loop's thread, except for `read`.
class Reload {
 public:
  using Task = std::function<void()>;
  /// Runs on a thread of its own, and returns a task for the loop's thread. It should return soon after a
  /// request through `stop`: its result is then dropped.
  using Read = std::function<Task(const std::stop_token& stop)>;

  /// `loop` outlives this object.
  Reload(Loop& loop, Read read) : loop_(loop), read_(std::move(read)) {}
  ~Reload() { stop(); }  ///< when the loop does not run any more; waits for `read`
  Reload(const Reload&) = delete;
  Reload& operator=(const Reload&) = delete;

  /// Runs one reload at a time: requests made meanwhile cause a single further reload afterwards.
  void start();

  /// Cancels the reload; its result is not used.
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
