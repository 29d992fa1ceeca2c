// SPDX-License-Identifier: Apache-2.0
// popdist-join: speaks gRPC with popdistd for the agent service, its parent, which so stays without HTTP/2
// and need not give it root's powers. Its stdin and stdout are a socket: relay.proto. It ends with it.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "agent/cluster/join/join_relay.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/sys/kept_memory.h"
#include "common/sys/private_memory.h"
#include "common/sys/reopen.h"

namespace {

int complain(const char* text) {
  std::fprintf(stderr, "popdist-join: %s\n", text);
  return 2;
}

}  // namespace

int main() {
  if (!S_ISSOCK(pop::sys::modeOf(STDIN_FILENO)))
    return complain("started by popdist-agent serve --controller");
  // The host's key is in its memory, and other processes of the user that it runs as may be anybody's.
  if (!pop::sys::keepMemoryPrivate().ok()) return complain("cannot protect its memory");
  ::signal(SIGPIPE, SIG_IGN);
  pop::sys::keepFreedMemory();
  if (!pop::sys::setNonBlocking(STDIN_FILENO).ok()) return complain("cannot use its socket");
  pop::os::EpollLoop loop;
  const pop::joining::Relay relay(loop, pop::sys::Fd(STDIN_FILENO), [] { ::_exit(0); });
  loop.run();
}
