// SPDX-License-Identifier: Apache-2.0
// A connection to ssh-agent for libssh, which would wait for an answer for ever: of an agent that was
// forwarded over a dead connection, or that waits for somebody to confirm the use of a key.
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
  /// kDeadlineExceeded, kResourceExhausted: somebody listens at `path`, and does not answer. `wait` outlives
  /// the connection.
  static Result<std::unique_ptr<AgentConnection>> open(const std::string& path, const Wait& wait);

  ~AgentConnection();
  AgentConnection(const AgentConnection&) = delete;
  AgentConnection& operator=(const AgentConnection&) = delete;

  /// The same connection, for somebody else to close. Its end comes when the time of `wait` is over.
  sys::Fd share() const;

  /// Why the connection was ended, if it was: no more is said over it.
  Status finish();

 private:
  AgentConnection(sys::Fd socket, sys::Fd finished)
      : socket_(std::move(socket)), finished_(std::move(finished)) {}
  Status watch(const Wait& wait);

  sys::Fd socket_;
  sys::Fd finished_;  ///< readable once nobody waits any more
  Status outcome_;
  std::thread watcher_;
};

}  // namespace pop
