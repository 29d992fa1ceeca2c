// SPDX-License-Identifier: Apache-2.0
// One direction of a connection that is passed on: what is read from one socket is written to another. No
// more is read than can be written.
#pragma once

#include <functional>
#include <string>

#include "common/os/epoll_loop.h"

namespace pop::popdistd {

/// On the loop's thread. Watches `from` for reading and `to` for writing; their owner unwatches them.
class ByteRelay {
 public:
  struct Events {
    std::function<void()> done;    ///< all is written, and `to` hears no more
    std::function<void()> broken;  ///< one of both is
  };

  /// `first`: written before what is read.
  ByteRelay(os::EpollLoop& loop, int from, int to, Events events, std::string first = {});
  ByteRelay(const ByteRelay&) = delete;
  ByteRelay& operator=(const ByteRelay&) = delete;

 private:
  void read();
  void write();

  os::EpollLoop& loop_;
  const int from_;
  const int to_;
  const Events events_;
  std::string unsent_;
};

}  // namespace pop::popdistd
