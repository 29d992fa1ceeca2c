// SPDX-License-Identifier: Apache-2.0
// Passes the bytes of the instances' connections on to libpmix, and back. libpmix believes a client that says
// which user it is; the relay asks the kernel, and lets only this process's user in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::pmix {

class Relay {
 public:
  /// `listener`: a non-blocking TCP socket that listens; each connection to it is continued to `port` of
  /// 127.0.0.1. `loop` outlives the relay.
  Relay(os::EpollLoop& loop, sys::Fd listener, int port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// A client has called PMIx_Finalize; its connection ends next. The server gets to know when no client is
  /// left: until 5.0 libpmix takes that end for a loss in the fence that others may have begun meanwhile, in
  /// the next program of their instances.
  void onFinalized() { ++finalized_; }

 private:
  /// One direction of a connection: nothing is read while something waits to be written.
  struct Stream {
    int from = -1;
    int to = -1;
    std::string waiting;
    bool ended = false;
  };
  struct Connection {
    sys::Fd client;
    sys::Fd server;
    Stream to_server;
    Stream to_client;
  };

  void listen();
  void accept();
  bool mayEnter(int client);
  void open(sys::Fd client);
  void read(int client, Stream& stream);
  bool write(int client, Stream& stream);
  void goOn(int client, Stream& stream);
  void onEnd(int client, Stream& stream);
  void close(int client);

  os::EpollLoop& loop_;
  const sys::Fd listener_;
  const int port_;
  std::optional<TimerId> next_try_;        ///< set while there are no descriptors left
  int finalized_ = 0;                      ///< clients whose connections have not ended yet
  std::vector<sys::Fd> kept_;              ///< the server's connections of those that have
  bool has_refused_ = false;               ///< another user
  std::map<int, Connection> connections_;  ///< by the client's descriptor
};

}  // namespace pop::pmix
