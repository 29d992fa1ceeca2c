// SPDX-License-Identifier: Apache-2.0
// The runner's end of its socket: what clients want of the job, and that there are new records for them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::runner {

class ControlServer {
 public:
  struct Events {
    std::function<void(int signal)> stop;
    std::function<void(int signal)> signal;
  };

  ControlServer(os::EpollLoop& loop, sys::Fd listener, Events events);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// There are new records: tells the clients, once for all that are appended before the loop next waits.
  void appended();

 private:
  struct Client {
    sys::Fd socket;
    contract::FrameReader reader;
  };

  void accept();
  void receive(int fd);
  bool handle(int fd, const contract::Frame& frame);
  void close(int fd);

  os::EpollLoop& loop_;
  const sys::Fd listener_;
  const Events events_;
  std::map<int, Client> clients_;
  bool tells_ = false;
};

}  // namespace pop::runner
