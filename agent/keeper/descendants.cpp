// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/descendants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <string>

#include "common/sys/fd.h"
#include "common/sys/threads.h"

namespace pop::keeper {
namespace {

// False if /proc is missing or belongs to another PID namespace, where its numbers mean other processes.
bool procIsOurs() {
  std::array<char, 32> self{};
  const ssize_t length = ::readlink("/proc/self", self.data(), self.size() - 1);
  return length > 0 && std::string(self.data()) == std::to_string(::getpid());
}

bool anyChild() {
  siginfo_t ignored{};
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// Without /proc: tries every possible process id, which takes nearly a second.
std::set<pid_t> probedChildren() {
  constexpr pid_t kMaxPids = 1 << 22;
  std::set<pid_t> children;
  siginfo_t ignored{};
  for (pid_t pid = 1; pid < kMaxPids; ++pid) {
    if (::waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED | WNOHANG | WNOWAIT) == 0)
      children.insert(pid);
  }
  return children;
}

// Children of `pid`, started by any of its threads: /proc has a list for each thread.
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

// Without `deep`, descendants of `root` become this process's children when `root` ends.
void killTree(pid_t root, bool deep) {
  // Stopped first, so that it cannot fork while its children are being killed.
  ::kill(root, SIGSTOP);
  if (deep) {
    for (const pid_t child : childrenOf(root)) killTree(child, deep);
  }
  ::kill(root, SIGKILL);
}

}  // namespace

std::set<pid_t> ownChildren() {
  // Usually there are no children, and reading /proc is the expensive part.
  if (!anyChild()) return {};
  return procIsOurs() ? childrenOf(::getpid()) : probedChildren();
}

bool endAllDescendants(std::chrono::milliseconds timeout, const std::set<pid_t>& spared) {
  const bool deep = procIsOurs();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    // /proc can miss some processes while others start and end.
    bool any_left = spared.empty() && anyChild();
    for (const pid_t child : ownChildren()) {
      if (spared.contains(child)) continue;
      any_left = true;
      killTree(child, deep);
      ::waitpid(child, nullptr, WNOHANG);
    }
    if (!any_left) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::usleep(500);  // the killed ones are on their way out; their orphans come to us then
  }
}

}  // namespace pop::keeper
