// SPDX-License-Identifier: Apache-2.0
// Opens a TCP connection to a host's SSH server and waits for its greeting.
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

/// Resolves `host` (on another thread: the resolver cannot be interrupted) and connects. If the server closes
/// the connection before its greeting, as sshd does beyond its MaxStartups, tries again until the time limit.
Result<Connection> dialSsh(const std::string& host, int port, const Wait& wait, const PhaseReport& phase);

/// The same for a host that may come up yet: its name, its route and its server are tried again until then.
Result<Connection> dialSshPatiently(const std::string& host, int port, const Wait& wait,
                                    const PhaseReport& phase);

}  // namespace pop
