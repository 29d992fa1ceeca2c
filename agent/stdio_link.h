// SPDX-License-Identifier: Apache-2.0
// What this process was started with as stdin and stdout, as one socket, which gRPC needs.
#pragma once

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// The socket itself where both are one (sshd without a terminal, the agent service), else one end of a pair
/// whose other end threads connect to the two. Descriptors 0 and 1 are /dev/null afterwards.
Result<sys::Fd> takeStdio();

}  // namespace pop::agent
