// SPDX-License-Identifier: Apache-2.0
// The agent of one job, or another program for it: a process that runs as the job's user, connected to the
// service by a socket.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/service/unix_user.h"
#include "agent/service/zombie_reaper.h"
#include "common/base/status.h"
#include "common/os/helper_program.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// Kills the process when destroyed. Nothing here waits for a process: one that takes long to end is handed
/// over to `zombies`.
class JobProcess {
 public:
  JobProcess() = default;
  ~JobProcess() { kill(); }
  JobProcess(JobProcess&& other) noexcept { *this = std::move(other); }
  JobProcess& operator=(JobProcess&& other) noexcept;
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  pid_t pid() const { return program_.pid(); }
  /// Readable once the process has ended.
  int pidfd() const { return program_.end().get(); }
  /// Non-blocking: the process's stdin and stdout.
  sys::Fd& stream() { return stream_; }
  /// Non-blocking: its stderr. Who watches it takes it.
  sys::Fd& errors() { return errors_; }

  bool hasEnded() const;

  /// Kills the process if it is alive, and describes its end: "was killed", "ended with exit code 3".
  std::string end();

  /// After end(): its exit code, if it has ended by itself.
  std::optional<int> exitCode() const { return exit_code_; }

  /// Kills the process, whose end is then still to be seen and described.
  void sendKill() const { program_.signal(SIGKILL); }

  /// Kills the process. Its keeper then ends the process's children, since the socket between them is closed;
  /// what of them is left soon after is killed, too.
  void kill();

  /// The same; `empty` is called when nothing is left: ZombieReaper::clear().
  void clear(std::function<void()> empty);

  /// A job can stop its process, which then obeys nobody: lets it go on, and returns how often that was.
  int continueIfStopped();

 private:
  friend Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                            const std::string& agent, ZombieReaper& zombies,
                                            const std::optional<Login>& login);
  std::optional<int> killAndReap();

  ZombieReaper* reaper_ = nullptr;
  os::HelperProgram program_;
  sys::Fd stream_;
  sys::Fd errors_;
  std::optional<int> exit_code_;
  pid_t handed_over_ = -1;  ///< to the reaper
  std::string cgroup_;
  bool is_held_ = false;  ///< its leftovers are still to be looked after
  int times_stopped_ = 0;
};

/// Starts `command`, a program's path and its arguments, as `user`, through `agent` become, so that this
/// process needs neither a fork nor the libraries of a name service. If the switch to the user fails, the
/// process ends with a line on stderr. `zombies` outlives the process's object. Call it on a thread that
/// lives as long as this process: the kernel treats the end of the thread as the end of the parent.
/// `login`: the user as it is known already; else the process looks it up.
Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                   const std::string& agent, ZombieReaper& zombies,
                                   const std::optional<Login>& login = std::nullopt);

}  // namespace pop::agent
