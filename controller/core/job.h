// SPDX-License-Identifier: Apache-2.0
// The job core: one job, from its placement to its end. It decides when an attempt begins and ends, and
// whether another one follows. It uses only a Loop and agents and does no I/O; the tables of job_fsm.h and
// instance_fsm.h define the possible transitions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/model/job_spec.h"
#include "common/ports/agent_port.h"
#include "common/ports/controller_port.h"
#include "controller/core/attempt.h"
#include "controller/core/event_log.h"
#include "controller/core/job_end.h"
#include "controller/core/job_fsm.h"
#include "controller/core/job_hosts.h"
#include "controller/core/reported_values.h"

namespace pop {

/// Identity of this job among others.
struct JobIdentity {
  std::string id;
  std::string key;  ///< 16 random bytes, by which its instances recognise each other
  /// Corrects `addresses`, at which the `hosts` reach each other according to their agents, before anything
  /// starts. May be empty.
  std::function<void(const std::vector<model::Host>& hosts, std::vector<std::string>& addresses)> correct;
};

class Job final : private AttemptEvents {
 public:
  /// `agents[h]` serves `spec.hosts[h]`. `spec` must be free of mistakes. Everything passed by reference must
  /// outlive the job.
  Job(Loop& loop, JobIdentity identity, model::JobSpec spec, const std::vector<Agent*>& agents,
      JobWatch watch);
  ~Job() override;

  void start();

  /// Handles the user's signal (SIGINT, SIGTERM, …): the first stops the job with grace, the next kills it.
  /// SIGPIPE means that the job's output cannot be written.
  void stop(int user_signal);

  /// Passes `signal` on to all instances.
  void signal(int signal);

  JobState state() const { return state_; }

 private:
  void allStarted() override { handle(JobEvent::kAllStarted); }
  void failed(Failure failure) override;
  void reported(const std::vector<InstanceValue>& values) override;
  void attemptOver() override;
  bool endTellsLoss() const override { return !end_.decided() || end_.isByLostHosts(); }

  void handle(JobEvent event);
  void beginAttempt(model::JobSpec spec);
  void place();
  void placeAgain();
  Result<model::JobSpec> specOfNext() const;
  void described();
  void correctAddresses();
  void bindAll();
  void waitToRestart();
  void timeOver();
  void traced(std::vector<StackTrace> traces);
  JobOutcome outcome() const;
  void report();
  void tellReported();

  Loop& loop_;
  const JobIdentity identity_;
  const JobWatch watch_;
  EventLog log_;
  JobState state_ = JobState::kPending;
  JobHosts hosts_;  ///< of this attempt
  std::unique_ptr<Attempt> attempt_;
  JobEnd end_;
  bool placement_told_ = false;
  std::optional<TimerId> timeout_;
  std::optional<TimerId> restart_delay_;
  ReportedValues values_;        ///< of this attempt
  std::optional<TimerId> tell_;  ///< is set while changes of them are to be told
  int hosts_unanswered_ = 0;     ///< when the time limit expired
  int hosts_traced_ = 0;
  std::vector<StackTrace> stack_traces_;
};

}  // namespace pop
