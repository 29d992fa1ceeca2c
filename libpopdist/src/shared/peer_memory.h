// SPDX-License-Identifier: Apache-2.0
// Reading the private memory of another process of this host: one copy, made by the system
// (process_vm_readv), where stages take two. The system need not allow it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/status.h"

namespace popdist::shared {

/// Where others find a process, and how they know that it is the one they mean: not all need see the same
/// processes under the same pids, and a pid may have another owner by the time of a reading.
struct ProcessMark {
  std::uint64_t word = 0;     ///< random
  std::uint64_t word_at = 0;  ///< its address in that process
  std::int32_t pid = 0;
};

/// Of this process.
ProcessMark ownMark();
bool isThisProcess(const ProcessMark& mark);

/// Copies `bytes` from `address` in the process that is marked; none at all only looks whether it can be
/// read. Not ok: `to` may hold anything. A process that has ended, has no such memory or does not let itself
/// be read is kUnavailable, with the system's reason.
pop::Status readFrom(const ProcessMark& process, std::uint64_t address, void* to, std::size_t bytes);

/// Whether others could read so many bytes of this process's own, by the first and the last of them.
bool canRead(const void* memory, std::size_t bytes);

}  // namespace popdist::shared
