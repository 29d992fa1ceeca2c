// SPDX-License-Identifier: Apache-2.0
// poprun-daemon: poprun-hosts with the code for popdistd: jobs that it runs, and partitions, which V-IPU's
// server hands out, too. It lacks nothing that poprun has; gRPC takes long to load.
#include <cstring>

#include "common/sys/private_memory.h"
#include "popctl/jobs/submit.h"
#include "poprun/app.h"
#include "poprun/command/hosts_half.h"
#include "poprun/daemon/held_partition.h"
#include "poprun/daemon/hold_partition.h"

int main(int argc, char** argv) {
  static_cast<void>(pop::sys::keepMemoryPrivate().ok());  // it may have a token, and a key
  if (argc == 2 && std::strcmp(argv[1], pop::daemon::kHoldPartition) == 0)
    return pop::daemon::holdPartition();
  pop::HostsHalf half = pop::hostsOverSsh();
  half.program = pop::Program::kDaemon;
  half.submit = pop::popctl::submitForPoprun;
  half.with_partition = pop::daemon::withPartition;
  return pop::runApp(argc, argv, &half);
}
