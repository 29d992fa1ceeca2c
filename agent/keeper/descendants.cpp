// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/descendants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>
#include <string>

#include "common/sys/fd.h"

namespace pop::keeper {
namespace {

// Children of `pid`, each of which may have been started by any of its threads; we and most programs fork
// from the first, and what another thread forked is reached when its parent is gone and it is handed to us.
std::string childrenOf(pid_t pid) {
  const std::string id = std::to_string(pid);
  const Result<std::string> list = sys::readFile("/proc/" + id + "/task/" + id + "/children");
  return list.ok() ? list.value() : std::string();
}

void killBelow(pid_t pid) {
  std::istringstream children(childrenOf(pid));
  for (pid_t child = 0; children >> child;) {
    // Stopped first, a child cannot fork while its own children are being killed.
    ::kill(child, SIGSTOP);
    killBelow(child);
    ::kill(child, SIGKILL);
  }
}

}  // namespace

bool endAllDescendants(std::chrono::milliseconds patience, const std::function<void(pid_t, int)>& reaped) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    killBelow(::getpid());
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) reaped(pid, status);
    if (pid < 0 && errno == ECHILD) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::usleep(500);  // the killed ones are on their way out; their orphans come to us then
  }
}

}  // namespace pop::keeper
