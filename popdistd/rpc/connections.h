// SPDX-License-Identifier: Apache-2.0
// gRPC's connections by the network: their limits, and their clients. gRPC tells neither when it closes one
// nor who is behind it, so this looks at descriptors, and calls name their callers. Included by this folder
// only.
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "popdistd/net/client_header.h"
#include "popdistd/net/shares.h"

namespace pop::popdistd {

/// By the socket's other end, which is the client itself, or a popdistd that passes the client's bytes on.
/// From any thread.
class Connections {
 public:
  explicit Connections(ConnectionLimits limits) : shares_(limits) {}

  /// Counts a connected socket, at whose other end is `end`, as one of `client`. kResourceExhausted: there
  /// are too many; then it is not counted.
  Status admit(int socket, const End& end, const End& client, Clock::time_point now);
  /// The caller of a call by this connection is known.
  void isKnown(const End& end);
  /// The client whose bytes come from `end`.
  End clientAt(const End& end);

 private:
  struct Connection {
    int socket;
    ino_t inode;  ///< of the socket: the descriptor's number may be another's by now
    End client;
    bool known;
  };

  Status roomFor(const std::string& address, Clock::time_point now);
  void forgetClosed();

  std::mutex mutex_;
  std::map<End, Connection> connections_;
  Shares shares_;
  Clock::time_point looked_{};
};

}  // namespace pop::popdistd
