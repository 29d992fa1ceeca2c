// SPDX-License-Identifier: Apache-2.0
#include "common/sys/taken_stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace pop::sys {
namespace {

Fd duplicate(int fd) {
  return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

Result<Stdio> takeStdio() {
  Stdio stdio{duplicate(STDIN_FILENO), duplicate(STDOUT_FILENO)};
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!stdio.in.valid() || !stdio.out.valid() || !null.valid())
    return errnoStatus("taking stdin and stdout", errno);
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  POP_RETURN_IF_ERROR(setNonBlocking(stdio.in.get()));
  POP_RETURN_IF_ERROR(setNonBlocking(stdio.out.get()));
  return stdio;
}

}  // namespace pop::sys
