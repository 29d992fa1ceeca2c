// SPDX-License-Identifier: Apache-2.0
// What clients and a job's runner say to each other on the socket in the job's directory, as frames. Records
// are not sent: clients read them in the directory, so that no client can hold the job up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::runner {

enum class ControlMessage : std::uint8_t {
  kStop = 1,    ///< → a signal's number: the first stops the job with grace, the next kills it
  kSignal = 2,  ///< → a signal's number, for all instances
  kDone = 3,    ///< ← a stop or a signal has been passed on
  kMore = 4,    ///< ← there are new records; left out for a client that has not read the last ones
};

inline constexpr std::size_t kMaxControlBytes = 64;  ///< of a frame's body

/// Listens for clients of the job in `directory`.
Result<sys::Fd> listenForClients(const std::string& directory);

/// Connects to the job's runner. kUnavailable: there is none any more, or it does not listen yet
/// (hasRunner()).
Result<sys::Fd> connectToRunner(const std::string& directory);

}  // namespace pop::runner
