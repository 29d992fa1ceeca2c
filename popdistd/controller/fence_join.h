// SPDX-License-Identifier: Apache-2.0
// Joins the fences of a job's hosts: open when every host that runs instances has reached it, with what all
// of them have put.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"

namespace pop {

class FenceJoin {
 public:
  /// `hosts` in all, of which `expected` run instances.
  FenceJoin(int hosts, int expected) : hosts_(static_cast<std::size_t>(hosts)), expected_(expected) {}

  /// `host` is there. Everybody's values when it was the last one: the fence is open, and the next begins.
  std::optional<PutValues> arrive(int host, PutValues values) {
    Host& arrived = hosts_[static_cast<std::size_t>(host)];
    if (!std::exchange(arrived.is_there, true)) ++arrived_;
    // What an earlier arrival brought, whose instances have given up waiting, is not lost.
    values.merge(arrived.put);
    arrived.put = std::move(values);
    if (arrived_ < expected_) return {};
    PutValues everybody;
    for (Host& each : hosts_) everybody.merge(each.put);
    reset();
    return everybody;
  }

  /// Nobody is there, and nothing has been put.
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
