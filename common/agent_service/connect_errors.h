// SPDX-License-Identifier: Apache-2.0
// Error messages for agent services that cannot be reached, with the cause and what to do. tls_errors.h has
// those for TLS.
#pragma once

#include <chrono>
#include <string>

#include "common/base/status.h"
#include "common/os/tcp.h"

namespace pop::wire {

/// No connection was made: kUnavailable, or kDeadlineExceeded if there was no answer.
Status explainDial(const os::Dialled& dialled);

/// The connection was closed before any message arrived.
Status explainSilentEnd(bool has_tls);

struct ServicePlace {
  std::string host;
  int port = 0;
  std::chrono::milliseconds timeout{0};
};

/// The message for the user: `why` with the place in front, and with the option for the timeout.
Status explainNoAnswer(const ServicePlace& place, const Status& why);

}  // namespace pop::wire
