// SPDX-License-Identifier: Apache-2.0
// A job's exit code after one of its processes has called MPI_Abort. Pure.
#pragma once

#include <cstdint>

namespace pop::agent {

/// MPI_Abort ends a process as exit() does: the low 8 bits of its code count. Never 0, which would be
/// success.
constexpr int exitCodeOfAbort(std::int64_t code) {
  const int exit_code = static_cast<int>(code & 0xff);
  return exit_code == 0 ? 1 : exit_code;
}

}  // namespace pop::agent
