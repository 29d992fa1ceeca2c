// SPDX-License-Identifier: Apache-2.0
// Joins the fences of a job's hosts: open when every host has reached it, with what all of them have put.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "popdistd/controller/ports.h"

namespace pop {

class FenceJoin {
 public:
  explicit FenceJoin(std::size_t num_hosts) : hosts_(num_hosts) {}

  /// `host` is there. Everybody's values when it was the last one: the fence is open, and the next begins.
  std::optional<PutValues> arrive(int host, PutValues values) {
    Host& arrived = hosts_[static_cast<std::size_t>(host)];
    arrived.is_there = true;
    // What an earlier arrival brought, whose instances have given up waiting, is not lost.
    values.merge(arrived.put);
    arrived.put = std::move(values);
    if (!std::all_of(hosts_.begin(), hosts_.end(), [](const Host& each) { return each.is_there; })) return {};
    PutValues everybody;
    for (Host& each : hosts_) everybody.merge(each.put);
    reset();
    return everybody;
  }

  /// Nobody is there, and nothing has been put.
  void reset() { hosts_.assign(hosts_.size(), {}); }

 private:
  struct Host {
    bool is_there = false;
    PutValues put;
  };
  std::vector<Host> hosts_;
};

}  // namespace pop
