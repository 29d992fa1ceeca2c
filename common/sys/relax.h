// SPDX-License-Identifier: Apache-2.0
// A pause for spinning threads.
#pragma once

namespace pop::sys {

/// Leaves the core to its other hardware thread, and saves power, for some cycles.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace pop::sys
