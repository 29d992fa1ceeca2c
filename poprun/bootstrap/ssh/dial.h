// SPDX-License-Identifier: Apache-2.0
// From a host's name to a TCP connection on which an SSH server has begun to speak.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/wait.h"

namespace pop {

struct Connection {
  sys::Fd socket;  ///< non-blocking
  std::string peer_address;
  std::string local_address;
};

using PhaseReport = std::function<void(const std::string& phase)>;

/// Resolves `host` (off this thread: the resolver cannot be interrupted) and connects. A server that drops
/// the connection before its greeting, as sshd does beyond its MaxStartups, is tried again until the time is
/// over.
Result<Connection> dialSsh(const std::string& host, int port, const Wait& wait, const PhaseReport& phase);

}  // namespace pop
