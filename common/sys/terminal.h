// SPDX-License-Identifier: Apache-2.0
// Whose turn it is at a terminal.
#pragma once

#include <unistd.h>

namespace pop::sys {

/// True when `terminal` is ours to share with a shell, and another job is in its foreground.
inline bool inBackground(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground >= 0 && foreground != ::getpgrp();
}

}  // namespace pop::sys
