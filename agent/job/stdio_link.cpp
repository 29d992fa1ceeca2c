// SPDX-License-Identifier: Apache-2.0
#include "agent/job/stdio_link.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace pop::agent {
namespace {

sys::Fd duplicate(int fd) {
  return sys::Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

Result<Stdio> takeStdio() {
  Stdio stdio{duplicate(STDIN_FILENO), duplicate(STDOUT_FILENO)};
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!stdio.in.valid() || !stdio.out.valid() || !null.valid())
    return errnoStatus("taking stdin and stdout", errno);
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  POP_RETURN_IF_ERROR(sys::setNonBlocking(stdio.in.get()));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(stdio.out.get()));
  return stdio;
}

}  // namespace pop::agent
