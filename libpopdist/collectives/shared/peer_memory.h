// SPDX-License-Identifier: Apache-2.0
// Reads the private memory of another process on this host: one copy, made by the kernel (process_vm_readv),
// where stages need two. The kernel may refuse it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/status.h"

namespace popdist::shared {

/// Identifies a process to others. A pid is not enough: processes may see different pid namespaces, and a pid
/// may have been reused by the time of a read.
struct ProcessMark {
  std::uint64_t word = 0;     ///< random
  std::uint64_t word_at = 0;  ///< its address in that process
  std::int32_t pid = 0;
};

/// The mark of this process.
ProcessMark ownMark();
bool isThisProcess(const ProcessMark& mark);

/// Copies `bytes` from `address` in the marked process; 0 bytes only test whether it can be read. After an
/// error `to` may hold anything. kUnavailable, with the kernel's reason, if the process has ended, does not
/// have this memory or does not allow reading.
pop::Status readFrom(const ProcessMark& process, std::uint64_t address, void* to, std::size_t bytes);

/// True if other processes could read `bytes` at `memory` of this one, judged by the first and the last byte.
bool canRead(const void* memory, std::size_t bytes);

}  // namespace popdist::shared
