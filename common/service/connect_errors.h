// SPDX-License-Identifier: Apache-2.0
// Why the agent service of a host does not answer, in words that name the cause and what to do about it.
// tls_errors.h has those of TLS.
#pragma once

#include <chrono>
#include <string>

#include "common/base/status.h"
#include "common/os/tcp.h"

namespace pop::wire {

/// No connection was made. kUnavailable, or kDeadlineExceeded: nobody answers.
Status explainDial(const os::Dialled& dialled);

/// The connection was closed before anything was said.
Status explainSilentEnd(bool has_tls);

struct ServicePlace {
  std::string host;
  int port = 0;
  std::chrono::milliseconds timeout{0};
};

/// What a user reads: `why` with the place before it, and with the option that says how long is waited.
Status explainNoAnswer(const ServicePlace& place, const Status& why);

}  // namespace pop::wire
