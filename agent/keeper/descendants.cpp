// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/descendants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>
#include <string>

#include "common/sys/fd.h"
#include "common/sys/threads.h"

namespace pop::keeper {
namespace {

// Children of `pid`, whichever of its threads has started them: /proc keeps a list for each thread.
std::set<pid_t> childrenOf(pid_t pid) {
  std::set<pid_t> children;
  for (const pid_t thread : sys::threadsOf(pid)) {
    const Result<std::string> list =
        sys::readFile("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/children");
    if (!list.ok()) continue;
    std::istringstream words(list.value());
    for (pid_t child = 0; words >> child;) children.insert(child);
  }
  return children;
}

void killTree(pid_t root) {
  // Stopped first, it cannot fork while its own children are being killed.
  ::kill(root, SIGSTOP);
  for (const pid_t child : childrenOf(root)) killTree(child);
  ::kill(root, SIGKILL);
}

}  // namespace

std::set<pid_t> ownChildren() {
  // Most often there is none, and reading /proc takes longer than all the rest.
  siginfo_t ignored{};
  if (::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) return {};
  return childrenOf(::getpid());
}

bool endAllDescendants(std::chrono::milliseconds patience, const std::set<pid_t>& spared) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    bool any_left = false;
    for (const pid_t child : ownChildren()) {
      if (spared.contains(child)) continue;
      any_left = true;
      killTree(child);
      ::waitpid(child, nullptr, WNOHANG);
    }
    if (!any_left) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::usleep(500);  // the killed ones are on their way out; their orphans come to us then
  }
}

}  // namespace pop::keeper
