// SPDX-License-Identifier: Apache-2.0
// The foreground of a terminal.
#pragma once

#include <unistd.h>

namespace pop::sys {

/// True if `terminal` is this process's controlling terminal and another job is in its foreground.
inline bool inBackground(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground >= 0 && foreground != ::getpgrp();
}

}  // namespace pop::sys
