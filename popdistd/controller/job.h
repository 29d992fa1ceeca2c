// SPDX-License-Identifier: Apache-2.0
// The controller core for one job: places it, starts it, joins its fences, and decides when and how it ends.
// Pure: it sees a Loop and agents, does no I/O, and the tables of job_fsm.h and instance_fsm.h say what may
// happen.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/model/job_spec.h"
#include "common/ports/agent_port.h"
#include "common/ports/controller_port.h"
#include "popdistd/controller/end_notices.h"
#include "popdistd/controller/event_log.h"
#include "popdistd/controller/exit_policy.h"
#include "popdistd/controller/fence_join.h"
#include "popdistd/controller/host_bindings.h"
#include "popdistd/controller/host_failures.h"
#include "popdistd/controller/instance_fsm.h"
#include "popdistd/controller/job_fsm.h"
#include "popdistd/controller/placed_job.h"
#include "popdistd/controller/restart_policy.h"

namespace pop {

/// What only this job is and has.
struct JobIdentity {
  std::string id;
  std::string key;  ///< 16 random bytes, by which its instances know each other
  /// Corrects `addresses`, at which `hosts` reach each other as their agents say, before anything starts. May
  /// be empty.
  std::function<void(const std::vector<model::Host>& hosts, std::vector<std::string>& addresses)> correct;
};

class Job {
 public:
  /// `agents[h]` serves `spec.hosts[h]`. `spec` is free of mistakes. Everything passed by reference outlives
  /// the job.
  Job(Loop& loop, JobIdentity identity, model::JobSpec spec, std::vector<Agent*> agents, JobWatch watch);
  ~Job();

  void start();

  /// The user's signal (SIGINT, SIGTERM, …): the first stops the job with grace, the next kills it. SIGPIPE:
  /// its output cannot be written.
  void stop(int user_signal);

  /// Passes `signal` on to all instances.
  void signal(int signal);

  JobState state() const { return state_; }

 private:
  // One per host: knows which agent an event came from.
  class HostEvents;
  friend class HostEvents;

  struct Instance {
    InstanceState state = InstanceState::kPending;
    pid_t pid = 0;
  };
  struct Host {
    Agent* agent = nullptr;
    std::unique_ptr<HostEvents> events;
    HostFacts facts;
    Status failure;          ///< why it cannot go on, when it is an error
    int instances_open = 0;  ///< not closed yet
  };

  void handle(JobEvent event);
  void place();
  bool leaveOutHosts();
  bool isBetweenAttempts() const;
  void startAll();
  void stopAll();
  void waitToRestart();
  void endAttempt();
  void timeOver();
  void traced(std::vector<StackTrace> traces);
  void report();
  void described(int host, Result<HostFacts> facts);
  void allDescribed();
  std::string attemptId() const;
  void correctAddresses();
  void bindAll();
  contract::Rendezvous rendezvous() const;

  void onStarted(int instance, pid_t pid);
  void onEnded(int instance, const InstanceEnd& end);
  void onClosed(int instance);
  void onAborted(int instance, int exit_code, const std::string& message);
  void onFenceReached(int host, PutValues values);
  void onLost(int host, const Status& why);

  void lose(int instance);
  void noteEnd(int instance, const std::string& reason);
  void tellEnd(int instance, bool clean, const std::string& reason);
  void close(int instance);
  void advance(int instance, InstanceEvent event);
  void fail(Failure failure);
  void announce(const SharedEndNotices& end_notices);
  std::vector<bool> goneHosts() const;
  std::vector<HostFailure> hostFailures() const;
  JobOutcome outcome() const;
  std::size_t hostIndexOf(int instance) const;
  int& inState(InstanceState state) { return in_state_[static_cast<std::size_t>(state)]; }

  Loop& loop_;
  const JobIdentity identity_;
  std::optional<PlacedJob> placed_;  ///< on the hosts of this attempt; never empty
  JobState state_ = JobState::kPending;
  std::vector<Instance> instances_;
  std::array<int, kInstanceStates> in_state_{};        ///< how many instances are in each state
  std::vector<Host> hosts_;                            ///< of this attempt
  std::vector<std::unique_ptr<HostEvents>> left_out_;  ///< their agents still report to them
  int hosts_described_ = 0;
  std::vector<model::Bindings> bindings_;  ///< by host; empty until all are described
  std::optional<FenceJoin> fence_;         ///< of this attempt
  EndNotices end_notices_;
  std::string why_not_again_;
  int instances_lost_ = 0;  ///< with their hosts, in this attempt
  std::set<int> stopped_;   ///< instances that had not ended when this attempt was stopped, and were not lost
  bool placement_told_ = false;
  ExitPolicy exit_policy_;
  RestartPolicy restart_policy_;
  EventLog log_;
  const JobWatch watch_;
  std::optional<TimerId> timeout_;
  std::optional<TimerId> restart_delay_;
  bool time_is_over_ = false;
  bool output_is_lost_ = false;  ///< it cannot be written, and so would be that of the next attempt
  int hosts_unanswered_ = 0;     ///< when the time was over
  int hosts_traced_ = 0;
  std::vector<StackTrace> stack_traces_;
};

}  // namespace pop
