// SPDX-License-Identifier: Apache-2.0
// Joins one fence of a job's hosts. It opens when every host that runs instances has reached it, and
// carries the values that all of them have put.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"

namespace pop {

class FenceJoin {
 public:
  /// `hosts`: their total number; `expected`: how many of them run instances.
  FenceJoin(int hosts, int expected) : hosts_(static_cast<std::size_t>(hosts)), expected_(expected) {}

  /// `host` has reached the fence. Returns the values of all hosts if it was the last one: the fence opens,
  /// and the next one begins.
  std::optional<PutValues> arrive(int host, PutValues values) {
    Host& arrived = hosts_[static_cast<std::size_t>(host)];
    if (!std::exchange(arrived.is_there, true)) ++arrived_;
    // An earlier arrival, whose instances have given up waiting, may have brought values: keep them.
    values.merge(arrived.put);
    arrived.put = std::move(values);
    if (arrived_ < expected_) return {};
    PutValues everybody;
    for (Host& each : hosts_) everybody.merge(each.put);
    reset();
    return everybody;
  }

  /// Back to the initial state: no host has reached the fence, no values are put.
  void reset() {
    hosts_.assign(hosts_.size(), {});
    arrived_ = 0;
  }

 private:
  struct Host {
    bool is_there = false;
    PutValues put;
  };
  std::vector<Host> hosts_;
  const int expected_;
  int arrived_ = 0;
};

}  // namespace pop
