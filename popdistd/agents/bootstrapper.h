// SPDX-License-Identifier: Apache-2.0
// Starts an agent on each host of a job and hands over a stream to it. How (SSH, a service) is the
// implementation's business; nothing of it is known to whoever speaks over the stream.
#pragma once

#include <functional>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop {

/// A host whose agent runs: one non-blocking socket that carries what it reads and writes.
struct ReachedHost {
  sys::Fd stream;
  std::string peer_address;   ///< numeric, of the host as it was reached; empty: through a proxy
  std::string local_address;  ///< numeric, ours on that connection
};

/// How what runs on a host ended, if not by itself.
inline constexpr int kConnectionLost = -1;
inline constexpr int kKilledBySignal = 128;

/// The phase of a host that had no agent.
inline constexpr const char* kCopyingPhase = "copying the agent";

/// Called on the loop's thread, by the host's index in the job. For each host either reached or failed, once.
struct BootstrapEvents {
  std::function<void(int host, ReachedHost reached)> reached;
  std::function<void(int host, Status why)> failed;
  /// The agent of a host that was reached, or the connection to it, before its stream is closed; it may be
  /// heard of sooner than that the host was reached.
  std::function<void(int host, int exit_code)> ended;
  std::function<void(int host, const std::string& phase)> phase;  ///< "ssh key exchange": for those who wait
  std::function<void(int host, const std::string& line)> said;    ///< the agent's stderr
};

class Bootstrapper {
 public:
  virtual ~Bootstrapper() = default;

  /// Begins with all hosts; returns at once. Once.
  virtual void start(BootstrapEvents events) = 0;

  /// Nobody is waited for any longer than that when this goes. For one that waits at all.
  virtual void endBy(Clock::time_point) {}
};

}  // namespace pop
