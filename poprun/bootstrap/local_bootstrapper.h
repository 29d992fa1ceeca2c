// SPDX-License-Identifier: Apache-2.0
// The agent of this host, when the job has other hosts too: a process like theirs, started directly.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "poprun/bootstrap/bootstrapper.h"

namespace pop {

class LocalBootstrapper final : public Bootstrapper {
 public:
  /// `command`: the agent and its arguments; once for each of `count` hosts.
  LocalBootstrapper(os::EpollLoop& loop, std::vector<std::string> command, int count,
                    std::chrono::milliseconds end_patience = kEndPatience)
      : loop_(loop),
        command_(std::move(command)),
        agents_(static_cast<std::size_t>(count)),
        end_patience_(end_patience) {}
  /// Waits for the agents, which end with their streams, and kills those that have not within the patience.
  ~LocalBootstrapper() override;

  void start(BootstrapEvents events) override;

 private:
  /// So long an agent takes at most to end the job's processes.
  static constexpr std::chrono::milliseconds kEndPatience{9000};

  struct AgentProcess {
    pid_t pid = -1;
    sys::Fd pidfd;    ///< readable when it has ended
    sys::Fd far_end;  ///< of its stream, which so is not closed before we know how it has ended
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
  const std::chrono::milliseconds end_patience_;
  BootstrapEvents events_;
};

}  // namespace pop
