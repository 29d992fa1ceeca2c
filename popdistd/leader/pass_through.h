// SPDX-License-Identifier: Apache-2.0
// Passes TCP connections on to where the leader serves, byte by byte: TLS stays between the client and the
// leader, and a client that knows one address of several popdistds can use it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/os/place.h"
#include "common/os/tcp.h"
#include "common/sys/fd.h"

namespace pop::popdistd {

/// All of it on the loop's thread.
class PassThrough {
 public:
  /// Where to, now; nothing: the connection is closed.
  using Target = std::function<std::optional<os::Place>()>;

  /// Listens from now on. `otherwise`: where to when nothing answers there. `loop` outlives the object.
  static Result<std::unique_ptr<PassThrough>> start(os::EpollLoop& loop, const os::Place& listen,
                                                    Target target,
                                                    std::optional<os::Place> otherwise = std::nullopt);
  /// Closes all connections.
  ~PassThrough();
  PassThrough(const PassThrough&) = delete;
  PassThrough& operator=(const PassThrough&) = delete;

  int port() const { return listener_.port; }

  /// For when the leader has changed: of one that hangs, clients would hear nothing.
  void closeConnections();

 private:
  class Connection;

  PassThrough(os::EpollLoop& loop, os::Listener listener, Target target, std::optional<os::Place> otherwise);
  void watch();
  void acceptAll();
  void acceptLater();
  void take(sys::Fd client);
  void warnOfCrowd();
  // Within a call of the connection's own.
  void drop(Connection& connection);

  os::EpollLoop& loop_;
  const os::Listener listener_;
  const Target target_;
  const std::optional<os::Place> otherwise_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> dropped_;  ///< until the next turn
  std::optional<TimerId> pause_;
  std::optional<TimerId> forget_;
  std::optional<Clock::time_point> warned_;
};

}  // namespace pop::popdistd
