// SPDX-License-Identifier: Apache-2.0
// Passes TCP connections on to the leader's address, byte by byte: TLS stays between the client and the
// leader, and a client that knows one address of several popdistds can use it. A header before them names the
// client to the leader.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/os/place.h"
#include "common/os/tcp.h"
#include "popdistd/net/client_header.h"
#include "popdistd/net/shares.h"

namespace pop::popdistd {

struct PassThroughTarget {
  os::Place place;
  std::shared_ptr<HeaderWriter> headers;  ///< null: clients are not named there
};

/// The leader finds out who they are, and turns unknown crowds away: these limits only keep one address
/// from taking all.
inline constexpr ConnectionLimits kPassedOnLimits{.most_unknown = 8'192, .most_unknown_of_one = 1'024};

struct PassThroughSettings {
  os::Place listen;
  /// The target of a new connection; nothing: it is closed.
  std::function<std::optional<PassThroughTarget>()> target;
  std::optional<os::Place> otherwise;  ///< the target when nothing answers there
  ConnectionLimits limits = kPassedOnLimits;
  std::chrono::milliseconds first_byte_timeout{10'000};  ///< no target is dialled before it
};

/// All of it on the loop's thread.
class PassThrough {
 public:
  /// Listens from now on. `loop` outlives the object.
  static Result<std::unique_ptr<PassThrough>> start(os::EpollLoop& loop, PassThroughSettings settings);
  /// Closes all connections.
  ~PassThrough();
  PassThrough(const PassThrough&) = delete;
  PassThrough& operator=(const PassThrough&) = delete;

  int port() const { return listener_.port; }

  /// For when the leader has changed: of one that hangs, clients would hear nothing.
  void closeConnections();

 private:
  class Connection;

  PassThrough(os::EpollLoop& loop, os::Listener listener, PassThroughSettings settings);
  void watch();
  void acceptAll();
  void acceptLater();
  void take(os::AcceptedConnection client);
  void warnOfCrowd(const Status& why);
  // Within a call of the connection's own.
  void drop(Connection& connection);

  os::EpollLoop& loop_;
  const os::Listener listener_;
  const PassThroughSettings settings_;
  Shares shares_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> dropped_;  ///< until the next turn
  std::optional<TimerId> pause_;
  std::optional<TimerId> forget_;
  std::optional<Clock::time_point> warned_;
};

}  // namespace pop::popdistd
