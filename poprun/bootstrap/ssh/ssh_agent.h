// SPDX-License-Identifier: Apache-2.0
// A connection to ssh-agent for libssh, with a time limit. By itself libssh would wait forever for an agent
// that was forwarded over a dead connection, or that waits for the user to confirm the use of a key.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/wait.h"

namespace pop {

class AgentConnection {
 public:
  /// kDeadlineExceeded, kResourceExhausted: an agent listens at `path` but does not answer. `wait` must
  /// outlive the connection.
  static Result<std::unique_ptr<AgentConnection>> open(const std::string& path, const Wait& wait);

  ~AgentConnection();
  AgentConnection(const AgentConnection&) = delete;
  AgentConnection& operator=(const AgentConnection&) = delete;

  /// A duplicate of the connection, which the caller closes. The connection is shut down when the time of
  /// `wait` is over.
  sys::Fd share() const;

  /// Ends the use of the connection. The error says why it was shut down, if it was.
  Status finish();

 private:
  AgentConnection(sys::Fd socket, sys::Fd finished)
      : socket_(std::move(socket)), finished_(std::move(finished)) {}
  Status watch(const Wait& wait);

  sys::Fd socket_;
  sys::Fd finished_;  ///< readable once the connection is no longer used
  Status outcome_;
  std::thread watcher_;
};

}  // namespace pop
