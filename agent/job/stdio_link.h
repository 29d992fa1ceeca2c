// SPDX-License-Identifier: Apache-2.0
// What this process was started with as stdin and stdout, for messages alone.
#pragma once

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// Both non-blocking.
struct Stdio {
  sys::Fd in;
  sys::Fd out;
};

/// Descriptors 0 and 1 are /dev/null afterwards.
Result<Stdio> takeStdio();

}  // namespace pop::agent
