// SPDX-License-Identifier: Apache-2.0
// The agent core carries out one job's slice on this host. It takes commands from the controller and sends
// reports to it; it reaches the host through the two ports of agent/core/ports.h. Pure, like the job core.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "agent/core/hooks.h"
#include "agent/core/instance.h"
#include "agent/core/kill_ladder.h"
#include "agent/core/ports.h"
#include "common/base/loop.h"
#include "common/base/text.h"

namespace pop::agent {

class AgentCore {
 public:
  /// Both ports outlive the core. `inherited`: the environment variables that are already set for the
  /// instances.
  AgentCore(Loop& loop, Processes& processes, Rendezvous& rendezvous, VariableNames inherited = {})
      : loop_(loop), processes_(processes), rendezvous_(rendezvous), inherited_(std::move(inherited)) {}
  ~AgentCore() {
    cancelKillTimer();
    cancelLookTimer();
  }
  AgentCore(const AgentCore&) = delete;
  AgentCore& operator=(const AgentCore&) = delete;

  // Commands, as in the Agent port.
  void run(JobSlice slice, AgentEvents& events);
  void stop();
  void kill();
  void signal(int signal);
  void releaseFence(FenceId fence, const PutValues& values) { rendezvous_.releaseFence(fence, values); }
  void announce(const EndNotice& end_notice) { rendezvous_.announce(end_notice); }

  // From the Processes port.
  void onSpawned(int instance, pid_t pid);
  void onSpawnFailed(int instance, int exit_code, const std::string& why);
  /// `cause`: what the status does not say, "out of memory (…)"; may be empty.
  void onReaped(int instance, const contract::ExitStatus& status, const std::string& cause = {});
  void onDrained(int instance);
  void onKeeperLost();  ///< nothing can be spawned or reaped any more: every instance is lost

  // From the Rendezvous port.
  void onFenceReached(FenceId fence, PutValues values) { events_->onFenceReached(fence, std::move(values)); }
  void onAborted(int instance, int exit_code, const std::string& message) {
    events_->onAborted(instance, exit_code, bounded(message));  // of up to 64 MiB
  }

 private:
  void startNext();
  void start(const InstanceOrder& order);
  void hold();
  void goOn();
  void cancelPending();
  bool advance(int instance, LocalEvent event);
  void end(int instance, const InstanceEnd& end);
  void signalAll(int signal);
  void descend(int signal);
  void cancelKillTimer();
  void look();
  void lookAgain();
  void cancelLookTimer();
  bool anyAlive() const;
  bool anyOpen() const;

  Loop& loop_;
  Processes& processes_;
  Rendezvous& rendezvous_;
  const VariableNames inherited_;
  JobSlice slice_;
  AgentEvents* events_ = nullptr;
  std::optional<KillLadder> ladder_;
  std::optional<TimerId> killed_;  ///< runs from SIGKILL on
  std::optional<TimerId> look_;    ///< at what instances report
  bool abandoned_ = false;         ///< we have ended the keeper ourselves, with all that ran
  Status obstacle_;                ///< why nothing can be started on this host, when it is an error
  std::map<int, LocalState> instances_;
  std::size_t next_ = 0;  ///< of slice_.instances, to be started
  int starting_ = 0;      ///< asked for, not answered
  bool stopping_ = false;
  bool held_ = false;  ///< by SIGSTOP: nothing is started until SIGCONT
};

}  // namespace pop::agent
