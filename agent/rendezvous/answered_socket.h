// SPDX-License-Identifier: Apache-2.0
// A socket on which an instance's requests are answered. An instance that does not read must not block the
// others or fill this process's memory: answers that it does not take wait here, and its further requests
// stay in the socket.
#pragma once

#include <functional>
#include <string>

#include "common/base/byte_queue.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::agent {

class AnsweredSocket {
 public:
  struct Events {
    std::function<void()> readable;  ///< it has sent something, or is gone
    std::function<void()> resumed;   ///< it has taken all answers: requests received before come next
  };

  /// The object may be destroyed in its own events. `loop` outlives it.
  AnsweredSocket(os::EpollLoop& loop, sys::Fd socket, Events events);
  ~AnsweredSocket();
  AnsweredSocket(const AnsweredSocket&) = delete;
  AnsweredSocket& operator=(const AnsweredSocket&) = delete;

  int fd() const { return socket_.get(); }

  /// While it has, the owner handles no request.
  bool hasUntaken() const { return !untaken_.empty(); }

  /// Never waits. If the other end is gone, the bytes are dropped; receiving finds out.
  void send(std::string bytes);

 private:
  void flush();
  void resume();

  os::EpollLoop& loop_;
  const sys::Fd socket_;
  const Events events_;
  ByteQueue untaken_;
};

}  // namespace pop::agent
