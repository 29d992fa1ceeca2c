// SPDX-License-Identifier: Apache-2.0
// Own open files for descriptors that this process shares with others. Setting O_NONBLOCK on a shared one
// would affect every process that has it, such as the parent shell; an open file of our own affects nobody
// else.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/sys/fd.h"

namespace pop::sys {

/// The type bits of the open file (S_ISFIFO and the like test them); 0 if `fd` is not open.
mode_t modeOf(int fd);

/// Opens the pipe or terminal of `fd` again, non-blocking; `access` is O_RDONLY or O_WRONLY. Invalid for
/// anything else (sockets have MSG_DONTWAIT, regular files never block), and if reopening is not allowed.
Fd reopenNonBlocking(int fd, int access);

/// Returns a descriptor that is readable while `fd` is ready for `events` (EPOLLIN, EPOLLOUT), for loops that
/// make non-blocking whatever they watch. Invalid if `fd` is always ready, as regular files are.
Fd readinessOf(int fd, std::uint32_t events);

/// True when both are the same pipe, terminal or file.
bool sameFile(int one, int other);

}  // namespace pop::sys
