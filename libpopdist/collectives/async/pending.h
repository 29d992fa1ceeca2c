// SPDX-License-Identifier: Apache-2.0
// A call that was issued: its arguments, and how it ended.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/sys/awake_clock.h"
#include "libpopdist/collectives/group/collective_call.h"
#include "popdist/async.hpp"
#include "popdist/error.hpp"

namespace popdist {

class Pending::State {
 public:
  State(std::string name, const group::CollectiveCall& call, std::chrono::milliseconds timeout);

  /// "allReduce 'grad3'".
  std::string describe() const { return std::string(nameOf(call.operation)) + " '" + name + '\''; }

  /// Called once.
  void finish(std::optional<popdist_error> error);
  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  void wait() const;
  /// False: not done within `limit`.
  bool waitFor(std::chrono::milliseconds limit) const;

  const std::string name;
  const std::vector<std::size_t> counts, recv_counts;  ///< those of the call, whose caller may drop them
  const group::CollectiveCall call;
  const std::chrono::milliseconds timeout;
  /// Called in that thread when the result is there, before any other thread learns of it; must not throw.
  /// May be empty.
  std::function<void()> on_result;
  /// The deadline by the clock of the thread that carries out the call, once that has seen it.
  std::optional<pop::sys::AwakeClock::time_point> deadline;

 private:
  group::CollectiveCall withOwnCounts(group::CollectiveCall issued) const;

  const unsigned fork_;
  void refuseFork() const;
  void throwError() const;

  std::optional<popdist_error> error_;  ///< when done
  std::atomic<std::uint32_t> done_{0};
};

}  // namespace popdist
