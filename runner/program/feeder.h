// SPDX-License-Identifier: Apache-2.0
// Serves the records of a job whose runner is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/sys/taken_stdio.h"
#include "runner/program/order_stream.h"

namespace pop::runner {

/// One feeder in its loop.
class Feeder {
 public:
  /// Calls `leave` on the order to retire, when the service is gone, or when no client has followed for
  /// `idle`.
  Feeder(os::EpollLoop& loop, sys::Stdio stdio, const std::string& directory, std::uint64_t last_sequence,
         std::function<void()> leave, std::chrono::milliseconds idle = std::chrono::seconds(5));
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

 private:
  void waitUnlessFollowed();

  os::EpollLoop& loop_;
  const std::function<void()> leave_;
  const std::chrono::milliseconds idle_;
  std::optional<TimerId> timer_;
  OrderStream stream_;
};

/// Serves what `directory` has, over this process's stdin and stdout, until it is needed no more. kNotFound:
/// it has no records.
Status feed(const std::string& directory);

}  // namespace pop::runner
