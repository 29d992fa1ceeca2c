// SPDX-License-Identifier: Apache-2.0
// Serves programs of MPICH's family: each instance inherits one end of a socket pair and speaks PMI-1 on it
// (pmi_session.h). No other process can connect.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/mpi/pmi/pmi_session.h"
#include "agent/rendezvous/answered_socket.h"
#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "common/sys/fd.h"

namespace pop::agent {

class PmiServer {
 public:
  struct Events {
    std::function<void(PutValues)> fence_reached;
    std::function<void(int instance, int exit_code, const std::string& message)> aborted;
  };

  PmiServer(os::EpollLoop& loop, Events events) : loop_(loop), events_(std::move(events)) {}

  /// Serves the instances of `slice` from now on if its families of variables include kPmi, and nobody from
  /// before.
  void open(const JobSlice& slice);

  /// Makes a connection for `instance`, which is about to be started. Returns the instance's end; an invalid
  /// Fd if nobody is served.
  Result<sys::Fd> connect(int instance);

  void release(const PutValues& values);
  void announce(const EndNotice& end_notice);

 private:
  struct Connection {
    Connection(os::EpollLoop& loop, sys::Fd fd, AnsweredSocket::Events events)
        : socket(loop, std::move(fd), std::move(events)) {}

    AnsweredSocket socket;
    std::string received;      ///< and not answered yet
    std::size_t answered = 0;  ///< of these, bytes to be forgotten
  };

  void receive(int instance);
  void takeLines(int instance);
  static std::optional<std::string> nextLine(Connection& connection);
  void carryOut(int instance, PmiOutcome outcome);
  void abort(const std::optional<PmiAbort>& abort);
  void close(int instance);

  os::EpollLoop& loop_;
  const Events events_;
  std::optional<PmiSession> session_;
  std::map<int, Connection> connections_;  ///< by instance
};

}  // namespace pop::agent
