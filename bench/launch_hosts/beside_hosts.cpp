// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/beside_hosts.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "agent/keeper/descendants.h"
#include "bench/harness/command.h"

namespace pop::bench {
namespace {

volatile sig_atomic_t benchmark_process = 0;

}  // namespace

int runBesideHosts(const std::function<int()>& benchmark) {
  if (const Status adopts = adoptOrphans(); !adopts.ok()) {
    std::fprintf(stderr, "%s\n", adopts.message().c_str());
    return 1;
  }
  const std::set<pid_t> hosts = keeper::ownChildren();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("fork");
    return 1;
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int code = benchmark();
    std::fflush(nullptr);
    std::_Exit(code);
  }
  benchmark_process = child;
  for (const int signal : {SIGINT, SIGTERM})
    ::signal(signal, [](int) { ::kill(benchmark_process, SIGTERM); });
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!keeper::endAllDescendants(keeper::kTimeout, hosts)) {
    std::fprintf(stderr, "a measured process resists SIGKILL\n");
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace pop::bench
