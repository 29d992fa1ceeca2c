// SPDX-License-Identifier: Apache-2.0
// What a thread that spins does between two looks.
#pragma once

namespace pop::sys {

/// Leaves the core to the other thread that it may have, and saves power, for some cycles.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace pop::sys
