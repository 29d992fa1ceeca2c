// SPDX-License-Identifier: Apache-2.0
// One attempt at a job: the placement of its instances, their states as the agents report them, their fences
// and end notices. The job decides what to do about them.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "controller/core/end_notices.h"
#include "controller/core/event_log.h"
#include "controller/core/fence_join.h"
#include "controller/core/first_failure.h"
#include "controller/core/instances.h"
#include "controller/core/job_hosts.h"

namespace pop {

class AttemptEvents {
 public:
  virtual ~AttemptEvents() = default;
  virtual void allStarted() = 0;             ///< each has started or failed to; may come several times
  virtual void failed(Failure failure) = 0;  ///< called for each failure; only the first one counts
  virtual void reported(const std::vector<InstanceValue>& values) = 0;
  virtual void attemptOver() = 0;  ///< no known host has anything left of this attempt

  /// True if the loss of a host with instances would now be the job's failure; the job's end then reports it.
  virtual bool endTellsLoss() const = 0;
};

class Attempt final : private HostReports {
 public:
  /// Everything passed by reference must outlive the attempt. From now on it receives the reports of `hosts`.
  Attempt(Loop& loop, model::JobSpec spec, JobHosts& hosts, const EventLog& log, AttemptEvents& events);

  const PlacedJob& placed() const { return placed_; }
  const model::JobSpec& spec() const { return placed_.spec(); }

  /// Binds the instances. Requires that all hosts have been described.
  Status bind();
  const std::vector<model::Bindings>& bindings() const { return bindings_; }

  /// `reports_wanted`: reported() is called.
  void start(const std::string& job_id, const std::string& key, int restarts, bool reports_wanted);
  void stop();

  /// Adds how this attempt ended, as far as it knows.
  void describeEnd(JobOutcome& outcome) const;
  /// Forgets how it ended: its end was reported, and the next attempt has an end of its own.
  void forgetEnd();

 private:
  void onStarted(int instance, pid_t pid) override;
  void onEnded(int instance, const InstanceEnd& end) override;
  void onClosed(int instance) override;
  void onAborted(int instance, int exit_code, const std::string& message) override;
  void onReported(const std::vector<InstanceValue>& values) override;
  void onFenceReached(int host, FenceId fence, PutValues values) override;
  void onLost(int host, const Status& why) override;

  void lose(int instance);
  void noteEnd(int instance, const std::string& reason);
  void tellEnd(int instance, bool clean, const std::string& reason);
  void close(int instance);
  void endIfAllAreClosed();
  void announce(const SharedEndNotices& end_notices);
  FenceJoin newFence() const;
  contract::Rendezvous rendezvous() const;
  int hostOf(int instance) const;
  int causeOf(int instance, const InstanceEnd& end) const;
  Failure failureOf(int instance, const InstanceEnd& end, const std::string& reason) const;
  std::string nameOf(int instance) const;
  const std::string& hostNameOf(int instance) const;
  int& openOn(int host) { return open_on_[static_cast<std::size_t>(host)]; }

  const PlacedJob placed_;
  JobHosts& hosts_;
  const EventLog& log_;
  AttemptEvents& events_;
  std::vector<model::Bindings> bindings_;  ///< by host
  Instances instances_;
  std::vector<int> open_on_;  ///< for each host, the number of instances that are not closed yet
  std::array<FenceJoin, kNumFences> fences_;
  EndNotices end_notices_;
  FirstFailure failures_;
  bool runs_ = false;       ///< between start() and its end
  int instances_lost_ = 0;  ///< with their hosts
  std::set<int> ended_well_;
  std::set<int> stopped_;  ///< instances that had not ended when it was stopped, and were not lost
};

}  // namespace pop
