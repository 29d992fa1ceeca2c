// SPDX-License-Identifier: Apache-2.0
// Starts MPI without its launcher: rank 0 acts as the process manager for all ranks of the job, in a thread.
// Each rank connects to it and hands the connection to its MPI library, which speaks PMI-1 on it.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace popdist::backends {

/// Listens on `host`, a numeric address, and serves from then on until the process ends. Returns its address,
/// "<secret> <port> <host>", for connectToPmi().
pop::Result<std::string> startPmiServer(const std::string& host, int ranks);

/// Connects to the server at `address` as `rank`. The connection is closed on exec. Waits as long as the
/// kernel does, which is minutes if packets are dropped.
pop::Result<pop::sys::Fd> connectToPmi(const std::string& address, int rank);

}  // namespace popdist::backends
