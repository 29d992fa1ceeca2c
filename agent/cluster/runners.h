// SPDX-License-Identifier: Apache-2.0
// The runners of this host: started, spoken to and ended by order of the cluster's daemon, as the jobs'
// users. They go on while the daemon is away. Knows nothing of how the daemon is reached.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cluster/runner_directories.h"
#include "agent/cluster/runner_process.h"
#include "agent/service/admission.h"
#include "agent/service/zombie_reaper.h"
#include "common/os/epoll_loop.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::agent {

namespace v1 = ::popdist::v1;

struct RunnerPrograms {
  std::string agent;   ///< popdist-agent
  std::string runner;  ///< popdist-runner
  KnownLogin known;    ///< of jobs' users
  JobHolds holds;
};

/// Lives on the loop's thread. Kills all runners when it goes.
class Runners {
 public:
  struct Events {
    std::function<void(const v1::HostReport& state)> report;  ///< takes each change of a runner
    std::function<void(const v1::RunnerKey& key, std::string_view report)> said;
  };

  /// `loop`, `admission` and `directories` outlive it.
  Runners(os::EpollLoop& loop, Admission& admission, const RunnerDirectories& directories,
          RunnerPrograms programs, Events events);
  ~Runners();
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;

  /// The cluster whose orders follow, and whose runners are told of. Those of another one go on.
  void setCluster(const std::string& cluster) { cluster_ = cluster; }

  /// All runners of the cluster whose directories are there.
  std::vector<v1::HeldRunner> held() const;

  /// `encoded`: the whole order, which the runner gets as it is. Each is answered by a report.
  void start(const v1::StartRunner& order, std::string_view encoded);
  void feed(const v1::RunnerKey& key, std::string_view encoded);
  void remove(const v1::RunnerKey& key, std::string_view encoded);

  void kill(const v1::RunnerKey& key);
  void pass(const v1::RunnerOrders& orders);  ///< to one that is gone: dropped

  /// They have to wait with what they say.
  void pause();
  void resume();

  std::int64_t running() const;

  /// Tells all runners to stop, and kills those that have not in time; then `stopped`. Starts no more.
  void stop(std::function<void()> stopped);

 private:
  enum class Role : std::uint8_t { kRunner, kFeeder, kRemover };
  struct Entry {
    Role role = Role::kRunner;
    std::unique_ptr<RunnerProcess> process;
    v1::HostReport at_end;    ///< of a remover after a start that has failed
    std::string then_remove;  ///< the order to remove that came meanwhile
    bool is_over = false;
  };
  using Entries = std::map<RunnerId, Entry>;

  RunnerId idOf(const v1::RunnerKey& key) const { return {cluster_, key.job(), key.attempt()}; }
  Entry* find(const RunnerId& id);
  void refuse(const RunnerId& id, const Status& why);
  void tellUp(const RunnerId& id, const Entry& entry);
  void tellStarted(const RunnerId& id, const Entry& entry);
  Status tryStart(const RunnerId& id, const v1::StartRunner& order, std::string_view encoded);
  Status run(const RunnerId& id, Role role, const std::string& user, std::string_view encoded);
  Result<std::string> userOf(const RunnerId& id) const;
  void startRemover(const RunnerId& id, std::string_view encoded);
  void said(const RunnerId& id, bool is_up, std::string_view report);
  void ended(const RunnerId& id, const RunnerEnd& end);
  void runnerEnded(const RunnerId& id, Entry& entry, const RunnerEnd& end);
  void clearAfter(const RunnerId& id, const v1::HostReport& refusal);
  void removerEnded(const RunnerId& id, Entry& entry, const RunnerEnd& end);
  void report(const RunnerId& id, const v1::HostReport& state);
  void forget(const RunnerId& id);

  os::EpollLoop& loop_;
  Admission& admission_;
  const RunnerDirectories& directories_;
  const RunnerPrograms programs_;
  const Events events_;
  ZombieReaper reaper_;
  std::string cluster_;
  Entries entries_;
  bool is_paused_ = false;
  std::function<void()> stopped_;  ///< once stop() was called
  std::optional<TimerId> stop_timer_;
};

}  // namespace pop::agent
