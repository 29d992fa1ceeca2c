// SPDX-License-Identifier: Apache-2.0
// Drives one non-blocking step of libssh to its end.
#pragma once

#include <libssh/libssh.h>
#include <poll.h>

#include "poprun/bootstrap/ssh/wait.h"

namespace pop {

/// Calls `step` until it returns something other than `again`, waiting for the socket in between.
template <typename Step>
Result<int> driveSsh(ssh_session session, int again, const Wait& wait, Step step) {
  for (;;) {
    const int outcome = step();
    if (outcome != again) return outcome;
    const bool unsent = (ssh_get_poll_flags(session) & SSH_WRITE_PENDING) != 0;
    POP_RETURN_IF_ERROR(
        wait.forEvents(ssh_get_fd(session), static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN)));
  }
}

}  // namespace pop
