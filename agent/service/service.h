// SPDX-License-Identifier: Apache-2.0
// The agent service: accepts Run calls from launchers, checks permissions, starts the job's agent as the
// job's Unix user, and forwards the call's messages in both directions. Of jobs it knows only who runs how
// many.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/service/admission.h"
#include "agent/service/spares.h"
#include "agent/service/zombie_reaper.h"
#include "common/os/epoll_loop.h"
#include "common/wire/served_call.h"

namespace pop::agent {

struct ServiceSettings {
  std::string own_name;  ///< as the certificate of a launcher on this host without TLS; empty: TLS tells
  /// Names of this host, lower case: a job's certificate is good where it names one of them.
  std::vector<std::string> host_names;
  SparesSettings spares;
  KnownLogin known;  ///< of jobs' users
  JobHolds holds;
};

class Service {
 public:
  /// `loop` outlives the service. `agent`: the path of this program, which also runs jobs' agents.
  Service(os::EpollLoop& loop, Admission admission, std::string agent, ServiceSettings settings);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void accept(std::shared_ptr<wire::ServedCall> call);

  /// For a peer who may run jobs here.
  Result<wire::v1::HostDescription> describe(const wire::Peer& peer) const;

  /// For the peer that started the job and has its token.
  Status endJob(const wire::Peer& peer, const std::string& job_id, const std::string& token);

  /// Replaces the users and limits. Running jobs continue.
  void setUsers(UsersFile users);

  /// True if anything of this job runs here.
  bool runsJob(const std::string& job_id) const;

  /// The limits, which also count other programs started here for users.
  Admission& admission() { return admission_; }

  std::int64_t runningJobs() const { return static_cast<std::int64_t>(jobs_.size()); }

  /// Accepts nothing more and ends all jobs; calls `stopped` when they are gone.
  void stop(std::function<void()> stopped);

 private:
  struct Job;
  using Jobs = std::list<std::unique_ptr<Job>>;

  const std::string& nameOf(const wire::Peer& peer) const;
  Status checkHere(const wire::Peer& peer) const;
  Status checkJob(const wire::Peer& peer, const std::string& job_id) const;
  void unwatch(Job& job);
  void receive(Job& job, wire::v1::Command command);
  Status mayForward(const Job& job, std::string_view command);
  void forward(Job& job, std::string_view command);
  void report(Job& job, const std::string& report);
  void welcome(Job& job, const std::string& report);
  void begin(Job& job, wire::v1::Command hello);
  Status start(Job& job, wire::v1::Command hello);
  void agentEnded(Job& job, const Status& why);
  void sayHowItEnded(Job& job);
  void requestEnd(Job& job, const Status& why);
  void end(Job& job, const Status& why);
  void clear(Job& job, const Status& why);
  void lookForStopped();
  void logEnd(const Job& job, const Status& why) const;
  void forget(Job& job);

  os::EpollLoop& loop_;
  Admission admission_;
  const std::string agent_;
  const ServiceSettings settings_;
  ZombieReaper reaper_;
  Spares spares_;
  Jobs jobs_;
  std::optional<TimerId> stop_timer_;  ///< the next look for stopped agents
  std::function<void()> stopped_;      ///< once stop() was called
};

}  // namespace pop::agent
