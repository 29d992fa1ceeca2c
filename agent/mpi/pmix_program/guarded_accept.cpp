// SPDX-License-Identifier: Apache-2.0
// libpmix listens on a port of its own, which every user of this host can find. It has no way to look at who
// connects, so this program's accept() takes the place of the C library's in it: the relay's connections get
// through, and those of other users are closed before libpmix sees them.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "agent/mpi/pmix/connection_user.h"

namespace {

// While other users take all descriptors there are, for a moment: the connection still waits afterwards.
constexpr std::chrono::milliseconds kUntilNextTry{5};

bool isOfUs(int socket) {
  const pop::Result<uid_t> user = pop::pmix::tcpPeerUser(socket);
  return user.ok() && user.value() == ::geteuid();
}

}  // namespace

// Never fails because of another user: libpmix would listen no more after that. It takes EAGAIN for no
// connection.
extern "C" __attribute__((visibility("default"))) int accept(int listener, sockaddr* address,
                                                             socklen_t* bytes) {
  const int socket = ::accept4(listener, address, bytes, 0);
  if (socket < 0) {
    if (errno == EBADF || errno == EINVAL) return socket;  // it has stopped listening
    if (errno != EAGAIN && errno != EINTR) std::this_thread::sleep_for(kUntilNextTry);
  } else if (isOfUs(socket)) {
    return socket;
  } else {
    ::close(socket);
  }
  errno = EAGAIN;
  return -1;
}
