// SPDX-License-Identifier: Apache-2.0
// Starts MPI without its launcher: rank 0 plays the process manager, in a thread, for all ranks of the job.
// Each connects to it and hands the connection to its MPI library, which speaks PMI-1 on it.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace popdist::backends {

/// Listens on `host`, a numeric address, and serves from then on until the process ends. Returns its address,
/// "<secret> <port> <host>", for connectToPmi().
pop::Result<std::string> startPmiServer(const std::string& host, int ranks);

/// A connection to the server at `address`, which knows it as that of `rank`. It survives no exec. Waits as
/// long as the system does, which is minutes where packets are dropped.
pop::Result<pop::sys::Fd> connectToPmi(const std::string& address, int rank);

}  // namespace popdist::backends
