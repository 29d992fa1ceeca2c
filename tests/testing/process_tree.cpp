// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/process_tree.h"

#include <poll.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <sstream>

#include "common/sys/fd.h"

namespace pop::testing {
namespace {

std::string fileOf(pid_t pid, const char* name) {
  const Result<std::string> content = sys::readFile("/proc/" + std::to_string(pid) + '/' + name);
  return content.ok() ? content.value() : std::string();
}

std::vector<pid_t> allProcesses() {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) pids.push_back(std::stoi(name));
  }
  return pids;
}

}  // namespace

bool waitUntil(const std::function<bool()>& condition, Milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

std::optional<ProcessStat> statOf(pid_t pid) {
  // "pid (name) state parent group ...": the name may itself hold spaces and parentheses.
  const std::string text = fileOf(pid, "stat");
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::istringstream(text.substr(close + 1)) >> stat.state >> stat.parent >> stat.group;
  return stat;
}

std::vector<pid_t> ownChildren() {
  std::vector<pid_t> children;
  const std::string self = std::to_string(::getpid());
  std::istringstream list(fileOf(::getpid(), ("task/" + self + "/children").c_str()));
  for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  return children;
}

pid_t childNamed(pid_t parent, const std::string& name) {
  for (const pid_t pid : allProcesses()) {
    const std::optional<ProcessStat> stat = statOf(pid);
    if (stat && stat->parent == parent && stat->name == name) return pid;
  }
  return -1;
}

std::vector<pid_t> processesWith(const std::string& variable) {
  std::vector<pid_t> found;
  const std::string wanted = '\0' + variable + '\0';
  for (const pid_t pid : allProcesses()) {
    if (('\0' + fileOf(pid, "environ")).find(wanted) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::string describeProcesses(const std::vector<pid_t>& pids) {
  std::string text;
  for (const pid_t pid : pids) {
    const std::optional<ProcessStat> stat = statOf(pid);
    if (!text.empty()) text += ", ";
    text += std::to_string(pid) + (stat ? " (" + stat->name + ", " + stat->state + ')' : " (just gone)");
  }
  return text;
}

}  // namespace pop::testing
