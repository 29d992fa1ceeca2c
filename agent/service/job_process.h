// SPDX-License-Identifier: Apache-2.0
// The agent of one job, as a process of the job's user, on a socket of ours.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/service/zombie_reaper.h"
#include "common/base/status.h"
#include "common/os/helper_program.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// Kills what it holds when it goes. Nothing here waits for a process: one that takes its time to go is left
/// to `zombies`.
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
  /// Non-blocking: what the process reads on stdin and writes to stdout.
  sys::Fd& stream() { return stream_; }
  /// Non-blocking: its stderr.
  sys::Fd& errors() { return errors_; }

  bool hasEnded() const;

  /// Kills it if it lives, and says how it ended: "was killed", "ended with exit code 3".
  std::string end();

  /// Kills it. Its keeper ends what it has started, since its end of their socket closes.
  void kill();

 private:
  friend Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                            const std::string& agent, ZombieReaper& zombies);
  std::optional<int> killAndReap();

  ZombieReaper* reaper_ = nullptr;
  os::HelperProgram program_;
  sys::Fd stream_;
  sys::Fd errors_;
};

/// Starts `command`, a program's path and its arguments, as `user`, by `agent` become: it costs this process
/// neither a fork nor the loading of a name service. That the user can be had is found out there: the process
/// ends with a line on stderr.
/// `zombies` outlives the process's object.
/// To be called on a thread that lives as long as this process: the kernel takes its end for ours.
Result<JobProcess> startJobProcess(const std::string& user, const std::vector<std::string>& command,
                                   const std::string& agent, ZombieReaper& zombies);

}  // namespace pop::agent
