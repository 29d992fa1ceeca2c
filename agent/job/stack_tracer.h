// SPDX-License-Identifier: Apache-2.0
// Finds out where running instances are: with gdb for the first few, if it is installed, and from /proc for
// the rest. The debuggers are the keeper's children, as the instances are, so they cannot outlive the job.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/keeper/keeper_link.h"
#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "common/sys/fd.h"

namespace pop::agent {

class StackTracer {
 public:
  using Reply = std::function<void(std::vector<StackTrace>)>;

  /// Both outlive the tracer.
  StackTracer(os::EpollLoop& loop, KeeperLink& keeper) : loop_(loop), keeper_(keeper) {}
  ~StackTracer();

  /// `running`: pid by instance. One trace at a time. The reply comes from the loop, after a few seconds at
  /// most.
  void trace(const std::map<int, pid_t>& running, Reply reply);

  /// True for the keeper's reports on the debuggers, whose numbers are below 0.
  static bool owns(int process) { return process < 0; }
  void onEnded(int process);

 private:
  struct Debugger {
    int instance = 0;
    pid_t pid = 0;
    std::string from_proc;  ///< read before gdb stopped the threads
    sys::Fd output;
    std::string text;
    bool ended = false;
  };

  void debug(int process, int instance, pid_t pid);
  bool receive(int process);  ///< false: there is nothing to read now
  void stopReading(Debugger& debugger);
  void finish();

  os::EpollLoop& loop_;
  KeeperLink& keeper_;
  Reply reply_;
  std::map<int, Debugger> debuggers_;  ///< by the number under which the keeper knows them
  std::vector<StackTrace> traces_;
  std::optional<TimerId> deadline_;
};

}  // namespace pop::agent
