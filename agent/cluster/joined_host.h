// SPDX-License-Identifier: Apache-2.0
// This host in its cluster: says what it has and what runs here, that it is alive, and what becomes of the
// daemon's orders.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cluster/controller_link.h"
#include "agent/cluster/runner_directories.h"
#include "agent/cluster/runners.h"
#include "agent/service/zombie_reaper.h"
#include "common/os/epoll_loop.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::agent {

struct JoinSettings {
  LinkSettings link;
  v1::HostJoins inventory;  ///< of takeInventory()
  std::string state;        ///< the directory
  std::string runner;       ///< popdist-runner
  KnownLogin known;         ///< of jobs' users
  JobHolds holds;
};

/// Lives on the loop's thread.
class JoinedHost {
 public:
  /// `runs_job`: whether an agent of the job runs here. `loop` and `admission` outlive it.
  JoinedHost(os::EpollLoop& loop, Admission& admission, JoinSettings settings,
             std::function<bool(const std::string& agent_job_id)> runs_job);
  ~JoinedHost();
  JoinedHost(const JoinedHost&) = delete;
  JoinedHost& operator=(const JoinedHost&) = delete;

  /// Makes the directories and begins to join. From then on it tries for ever. kAlreadyExists: another
  /// service has the directories.
  Status start();

  std::int64_t runningRunners() const { return runners_.running(); }

  /// Ends all runners and tells popdistd how they have ended; then `stopped`.
  void stop(std::function<void()> stopped);

 private:
  void sayJoins();
  void obey(std::string_view encoded);
  void welcome(const v1::HostWelcome& welcome);
  void beat();
  void stopTimers();
  void sayHere(const v1::AskJob& ask);
  void report(const v1::HostReport& state);
  void said(const v1::RunnerKey& key, std::string_view report);
  void closed();
  void look();

  os::EpollLoop& loop_;
  const JoinSettings settings_;
  const std::function<bool(const std::string&)> runs_job_;
  const RunnerDirectories directories_;
  ZombieReaper reaper_;
  sys::Fd lock_;             ///< of the directories
  std::string cluster_;      ///< the last one
  std::uint64_t epoch_ = 0;  ///< the largest of its popdistds
  bool is_welcome_ = false;
  std::vector<v1::HostReport> since_joins_;  ///< changes that HostJoins does not tell yet
  std::chrono::milliseconds heartbeat_{0};
  std::optional<TimerId> heartbeat_timer_;
  std::optional<TimerId> welcome_timer_;
  ControllerLink link_;
  Runners runners_;
};

}  // namespace pop::agent
