// SPDX-License-Identifier: Apache-2.0
// Starts an agent on each host of a job and hands over a stream to it. The implementation decides how (SSH, a
// service); users of the stream do not know.
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
  std::string peer_address;   ///< numeric, as the host was reached; empty: through a proxy
  std::string local_address;  ///< numeric, our end of that connection
};

/// End of the program on a host, if it did not end by itself.
inline constexpr int kConnectionLost = -1;
inline constexpr int kKilledBySignal = 128;

/// The phase of a host to which the agent is being copied.
inline constexpr const char* kCopyingPhase = "copying the agent";

/// Called on the loop's thread with the host's index in the job. Each host gets exactly one of reached and
/// failed.
struct BootstrapEvents {
  std::function<void(int host, ReachedHost reached)> reached;
  std::function<void(int host, Status why)> failed;
  /// The end of a host's agent or of the connection to it. Comes before the stream is closed, and possibly
  /// before reached().
  std::function<void(int host, int exit_code)> ended;
  std::function<void(int host, const std::string& phase)> phase;  ///< such as "ssh key exchange"
  std::function<void(int host, const std::string& line)> said;    ///< the agent's stderr
};

class Bootstrapper {
 public:
  virtual ~Bootstrapper() = default;

  /// Starts on all hosts and returns at once. Call it once.
  virtual void start(BootstrapEvents events) = 0;

  /// The destructor of an implementation that waits for agents waits no longer than this.
  virtual void endBy(Clock::time_point) {}
};

}  // namespace pop
