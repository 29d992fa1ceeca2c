// SPDX-License-Identifier: Apache-2.0
// For processes that pass on much: freed memory stays with them for a while.
#pragma once

#include <malloc.h>

namespace pop::sys {

/// Messages of some 256 KiB come and go as fast as the next process reads. As it is, malloc() gives the
/// memory of each back to the kernel, which has to clear pages for the next one: that costs several times
/// what is done with the message. With this the process keeps up to 16 MiB of freed memory. Call it once, at
/// the start.
inline void keepFreedMemory() {
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

}  // namespace pop::sys
