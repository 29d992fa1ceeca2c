// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/beside_hosts.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace pop::bench {
namespace {

volatile sig_atomic_t benchmark_process = 0;

}  // namespace

int runBesideHosts(const std::function<int()>& benchmark) {
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
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace pop::bench
