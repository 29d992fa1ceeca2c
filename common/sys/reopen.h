// SPDX-License-Identifier: Apache-2.0
// Descriptors that others share with us. Setting O_NONBLOCK on one would set it for everybody who has it, our
// parent's shell included; an open file of our own is nobody else's business.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/sys/fd.h"

namespace pop::sys {

/// The type bits of what `fd` is open on (S_ISFIFO and the like tell it); 0 when it is not open.
mode_t modeOf(int fd);

/// Our own non-blocking open file of the pipe or terminal that `fd` is; `access` is O_RDONLY or O_WRONLY. Not
/// valid for anything else (sockets have MSG_DONTWAIT, regular files never block), nor where it is not
/// allowed.
Fd reopenNonBlocking(int fd, int access);

/// Something that is readable while `fd` is ready for `events` (EPOLLIN, EPOLLOUT), to be watched in its
/// place by what makes non-blocking whatever it watches. Not valid where `fd` is always ready, as regular
/// files are.
Fd readinessOf(int fd, std::uint32_t events);

/// True when both are the same pipe, terminal or file.
bool sameFile(int one, int other);

}  // namespace pop::sys
