// SPDX-License-Identifier: Apache-2.0
// This process's original stdin and stdout, reserved for messages.
#pragma once

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::sys {

/// Both are non-blocking.
struct Stdio {
  Fd in;
  Fd out;
};

/// Takes both; descriptors 0 and 1 are /dev/null afterwards.
Result<Stdio> takeStdio();

}  // namespace pop::sys
