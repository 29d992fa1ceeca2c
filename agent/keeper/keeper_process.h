// SPDX-License-Identifier: Apache-2.0
// The keeper's work after its fork: takes requests from the agent, starts, signals and reaps processes, and
// ends all its descendants when the agent is gone.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/keeper/keeper_wire.h"
#include "agent/keeper/spawner.h"
#include "common/contract/frame.h"
#include "common/sys/fd.h"

namespace pop::keeper {

/// The program that wants the job, and the agent that ends the job when that program is gone.
struct LifeLine {
  sys::Fd fd;  ///< hangs up; invalid: none
  pid_t agent = -1;
};

class KeeperProcess {
 public:
  KeeperProcess(sys::Fd link, LifeLine life) : link_(std::move(link)), life_(std::move(life)) {}

  [[noreturn]] void run();

 private:
  // A child that ended before its start was reported. Starts that began later cannot belong to it.
  struct Unclaimed {
    pid_t pid = 0;
    int status = 0;
    std::uint64_t begun = 0;  ///< starts begun when it was reaped
  };

  void raiseDescriptorLimit();
  bool waitForEvents(int signals);  ///< true: more may be waiting to be started
  void receive();
  bool receiveOnce();  ///< false: nothing is there now
  void handle(const Message& message);
  void enqueueSpawn(const Message& message);
  void signalInstance(int instance, int signal);
  void endLeftovers();
  void reportStarted();
  void claim(const Spawner::Started& started);
  void reapChildren();
  void reportReaped(int instance, int status);
  void reportStopped(int instance, int signal);
  void sendFailed(int instance, int exit_code, const std::string& reason);
  void send(const Message& message) { outgoing_ += encode(message); }
  void flush();
  std::vector<sys::Fd> takeFds(std::size_t count);
  int timeout() const;
  void lifeIsOver();

  sys::Fd link_;
  LifeLine life_;
  std::optional<std::chrono::steady_clock::time_point> agent_deadline_;
  bool connected_ = true;
  rlimit original_limit_{0, 0};
  contract::FrameReader reader_;
  std::deque<sys::Fd> fds_;
  bool lost_fds_ = false;  ///< of the next request
  std::string outgoing_;
  std::shared_ptr<const Environment> environment_;  ///< of those that are asked for next
  Spawner spawner_;
  std::set<int> starting_;                           ///< asked for, not reported
  std::map<int, std::vector<int>> signals_to_send_;  ///< to those, once they have started
  std::vector<Unclaimed> unclaimed_;
  std::map<int, pid_t> pid_of_;
  std::map<pid_t, int> instance_of_;
  std::vector<std::string> remove_at_end_;
};

}  // namespace pop::keeper
