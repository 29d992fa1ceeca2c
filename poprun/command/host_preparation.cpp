// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/host_preparation.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "agent/keeper/descendants.h"
#include "common/sys/terminal.h"
#include "poprun/bootstrap/copy/copy_lines.h"
#include "poprun/bootstrap/copy/distribute_key.h"
#include "poprun/bootstrap/copy/synchronise.h"
#include "poprun/bootstrap/ssh_words.h"
#include "poprun/command/ssh_settings.h"

namespace pop {
namespace {

std::vector<std::string> keyCopier(const SshOptions& ssh) {
  // It gets no options of the remote shell, and is not used with a remote shell other than ssh.
  const bool by_plain_ssh = ssh.rsh.size() == 1 && isSsh(ssh.rsh.front());
  if (!ssh.rsh.empty() && !by_plain_ssh) return {};
  std::vector<std::string> command{"ssh-copy-id"};
  if (!ssh.config_file.empty()) command.insert(command.end(), {"-F", ssh.config_file});
  return command;
}

CopyLines linesFor(const std::vector<std::string>& hosts) {
  winsize size{};
  const bool drawn = ::isatty(STDERR_FILENO) == 1 && !sys::inBackground(STDERR_FILENO) &&
                     ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return {hosts, drawn ? size.ws_row : 0, size.ws_col,
          [](const std::string& text) { std::fputs(text.c_str(), stderr); }};
}

std::vector<std::string> distribute(const std::vector<std::string>& hosts, const SshOptions& ssh) {
  const char* home = std::getenv("HOME");
  return distributeKey({.hosts = hosts,
                        .rsh = remoteShell(ssh),
                        .copier = keyCopier(ssh),
                        .home = home == nullptr ? "" : home,
                        .has_terminal = ::isatty(STDIN_FILENO) == 1,
                        .connect_timeout = connectTimeout(ssh),
                        .timeout = std::chrono::milliseconds(ssh.connect_timeout_ms + ssh.start_timeout_ms)});
}

std::vector<std::string> copy(const std::vector<std::string>& paths, const std::vector<std::string>& hosts,
                              const SshOptions& ssh) {
  CopyLines lines = linesFor(hosts);
  const CopySettings settings{.hosts = hosts,
                              .paths = paths,
                              .rsh = remoteShell(ssh),
                              .connect_timeout = connectTimeout(ssh),
                              .progress = [&lines](int host, model::CopyState state, int percent) {
                                lines.change(host, state, percent, CopyLines::Clock::now());
                              }};
  std::vector<std::string> failures = copyToHosts(settings);
  lines.finish();
  return failures;
}

// A killed rsync leaves its ssh behind: this process adopts that ssh and ends it.
class OrphansEnded {
 public:
  OrphansEnded() : older_(keeper::ownChildren()) { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~OrphansEnded() { keeper::endAllDescendants(keeper::kTimeout, older_); }
  OrphansEnded(const OrphansEnded&) = delete;
  OrphansEnded& operator=(const OrphansEnded&) = delete;

 private:
  const std::set<pid_t> older_;
};

}  // namespace

std::vector<std::string> prepareHosts(const model::CopyRequest& copies, const std::vector<std::string>& hosts,
                                      const SshOptions& ssh) {
  if (hosts.empty()) return {};
  const OrphansEnded orphans_ended;
  if (copies.ssh_key) {
    std::vector<std::string> failures = distribute(hosts, ssh);
    if (!failures.empty()) return failures;  // copying would only fail in the same way
  }
  return copies.paths.empty() ? std::vector<std::string>{} : copy(copies.paths, hosts, ssh);
}

}  // namespace pop
