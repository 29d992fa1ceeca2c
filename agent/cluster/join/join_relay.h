// SPDX-License-Identifier: Apache-2.0
// Passes messages on between the agent service and popdistd, in both directions as fast as the slower side
// takes them, and keeps little of what is under way.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/cluster/join/join_stream.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/wire/message_stream.h"

namespace pop::joining {

/// Only on the loop's thread.
class Relay {
 public:
  /// `service`: the socket to it, non-blocking. `over`: the service is gone, or speaks another language, or
  /// it has ended the conversation, and popdistd has got all that it has said.
  Relay(os::EpollLoop& loop, sys::Fd service, std::function<void()> over);

 private:
  void take(const std::string& message);
  void connect(const v1::RelayConnect& connect);
  void pass(std::string order);
  void closed(const std::string& why);
  void serviceEnded(const Status& how);

  os::EpollLoop& loop_;
  std::function<void()> over_;
  wire::MessageStream service_;
  std::unique_ptr<HostStream> host_;
  bool is_open_ = false;
  bool is_ending_ = false;  ///< the service has ended the conversation
  bool waits_ = false;      ///< the next order waits until the service has read the last
};

}  // namespace pop::joining
