// SPDX-License-Identifier: Apache-2.0
// Starts the agent of this host if the job has other hosts too: a process like theirs, started directly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/os/helper_program.h"
#include "controller/hosts/bootstrapper.h"

namespace pop {

class LocalBootstrapper final : public Bootstrapper {
 public:
  /// `command`: the agent and its arguments; started once for each of `count` hosts.
  LocalBootstrapper(os::EpollLoop& loop, std::vector<std::string> command, int count)
      : loop_(loop), command_(std::move(command)), agents_(static_cast<std::size_t>(count)) {}
  /// Waits for the agents, which end with their streams, for kAgentEndTimeout or the time set by endBy(), and
  /// kills those that are still running.
  ~LocalBootstrapper() override;

  void start(BootstrapEvents events) override;
  void endBy(Clock::time_point deadline) override { end_by_ = deadline; }

 private:
  struct AgentProcess {
    os::HelperProgram program;
    sys::Fd far_end;  ///< the agent's end of its stream, held open until we know how the program ended
    sys::Fd errors;
    std::string unfinished;  ///< line
  };

  void startAgent(int host);
  void watchEnd(int host, sys::Fd far_end);
  void ended(int host);
  void readErrors(int host);

  os::EpollLoop& loop_;
  const std::vector<std::string> command_;
  std::vector<AgentProcess> agents_;
  std::optional<Clock::time_point> end_by_;
  BootstrapEvents events_;
};

}  // namespace pop
