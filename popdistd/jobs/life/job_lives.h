// SPDX-License-Identifier: Apache-2.0
// The life of each job, from waiting to its end: docs/spec/daemon_jobs.md has the table of states. Orders
// leave only after what they follow from is durable; an end counts only when it is proved.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/base/while_there.h"
#include "popdistd/api/measures.h"
#include "popdistd/common/commits.h"
#include "popdistd/common/pod_leases.h"
#include "popdistd/common/wall_clock.h"
#include "popdistd/jobs/follow/runner_links.h"
#include "popdistd/jobs/job_request.h"
#include "popdistd/jobs/life/host_proofs.h"
#include "popdistd/jobs/life/job_life_fsm.h"
#include "popdistd/jobs/life/queue_input.h"
#include "popdistd/jobs/table/host_table.h"
#include "popdistd/jobs/table/job_table.h"
#include "popdistd/jobs/table/quota_table.h"
#include "popdistd/jobs/table/seen_time.h"

namespace pop::popdistd {

/// Issues the credentials by which a job's runner reaches the agent services of the job's hosts.
using IssueCredentials = std::function<Result<v1::JobCredentials>(const v1::JobRecord& job)>;

class JobLives {
 public:
  struct Parts {
    Loop& loop;
    const WallClock& clock;
    const SeenTime& seen;
    Store& store;
    Commits& commits;
    JobTable& jobs;
    HostTable& hosts;
    RunnerLinks& links;
    PodLeases& pods;
    QuotaTable& quotas;
    const queue::Rules& rules;
    const IsShutOut& is_shut_out;
    IssueCredentials issue;  ///< null: jobs have one host each
    const VipuServer& vipu_server;
  };

  explicit JobLives(Parts parts) : parts_(std::move(parts)), proofs_(parts_.loop, parts_.hosts) {}
  ~JobLives() { parts_.loop.cancel(schedule_timer_); }
  JobLives(const JobLives&) = delete;
  JobLives& operator=(const JobLives&) = delete;

  // ---- what clients want

  /// A job that has been added to the table: it is stored, and starts when it can. An error is the store's
  /// refusal: the job is not there.
  Status submitted(const Job& job);
  /// `why`: for people. False: it had ended before.
  bool cancel(Job& job, const std::string& why);
  Status signal(Job& job, int signal);
  Status hold(Job& job);
  Status release(Job& job);
  /// Removes the data of an ended job from its host, now or when the host joins.
  void forget(const Job& job);

  // ---- what hosts say

  /// Jobs from `first_unknown` on have never been in the store, as when that is an old copy: they are left
  /// alone. Unknown jobs below it were forgotten, and go.
  void hostJoined(Host& host, const std::vector<v1::HeldRunner>& runners, std::int64_t first_unknown);
  /// Those, by host.
  const std::map<std::string, std::set<std::int64_t>>& orphans() const { return orphans_; }
  bool isOrphan(std::int64_t id) const;
  void said(Host& host, v1::HostReport report);
  /// The host is removed by hand: its jobs are lost.
  void hostRemoved(const std::string& name);

  /// Starts what can start, once all that happens in this turn of the loop is known. Where thousands wait,
  /// not more often than is needed.
  void scheduleSoon();
  /// Why a job that is queued waits, as the queue has seen it last, and when it is expected to start.
  void showAnswer(const Job& job, v1::JobInfo& info) const;
  /// Why it waits, or has ended as it has, for people.
  const std::string& reasonOf(const Job& job) const;
  /// Ends jobs whose hosts have been silent for too long. Call it every second.
  void tick();

  /// For the jobs that were loaded from the store: goes on where the daemon's last life ended.
  void adopt();
  /// Before the jobs are dropped from memory.
  void unfollowAll();

  const JobMeters& meters() const { return meters_; }

 private:
  // ---- job_steps.cpp

  /// The one way in which a job's state changes: by the table, whose action is carried out. An event without
  /// a row there does nothing. `why`: for people.
  void happened(Job& job, JobLifeEvent event, const std::string& why = {});
  void carryOut(Job& job, JobLifeAction action);
  void orderStartWhenDurable(const Job& job);
  void waitAgain(Job& job);
  void beginRun(Job& job);
  /// Its time begins, if it has not.
  void noteRun(Job& job) const;
  void stop(const Job& job, int number);
  void end(Job& job, v1::JobEnd how);

  // ---- job_schedule.cpp

  void schedule();
  void startPlanned(const queue::Snapshot& snapshot, const queue::Start& planned);
  void waitPlanned(Job& job, const queue::Wait& planned, const std::string& reason, bool is_near);
  void wait(Job& job, v1::WaitCause cause, const std::string& reason);
  void showWaiting(Job& job, v1::WaitCause cause, const std::string& reason);
  void start(Job& job, const std::vector<std::string>& hosts, const ChosenBlock* block);
  queue::Time now() const;

  // ---- job_lives.cpp

  void orderStart(std::int64_t id, std::int32_t attempt);
  Result<v1::HostOrder> startOrder(const Job& job) const;
  void takeUp(Host& host, const v1::HeldRunner& held);
  bool isClaimed(const Job& job, const Host& host, const v1::HeldRunner& held) const;
  void dismiss(Host& host, const v1::HeldRunner& held);
  void missing(Job& job);
  void runnerIsThere(Job& job);
  void refused(Job& job, const Status& why);
  /// Pauses starts of the job's user on its host. False: the job itself is to blame.
  bool pauseStarts(const Job& job, const Status& why);
  void save(Job& job);
  static void kill(Host& host, const v1::RunnerKey& key);
  void remove(const std::string& host, const v1::RunnerKey& key);
  bool isCurrent(const Job* job, std::int32_t attempt) const;

  // ---- job_ends.cpp

  void follow(Job& job);
  void take(std::int64_t id, std::int32_t attempt, const v1::Records& records);
  void takeEvent(Job& job, const v1::StoredRecord& record);
  void takeValues(Job& job, const v1::JobValues& values);
  void finish(Job& job, const v1::JobOutcome& outcome);
  void recordsEnded(std::int64_t id, std::int32_t attempt, const Status& why);
  void runnerLost(Job& job, const std::string& why);
  void askForProof(const Job& job);
  void letPartitionGo(const Job& job, const std::string& partition);
  void hostIsFree(const Host& host, const RunnerId& runner);
  void closeStream(Host& host, const std::string& why);

  Parts parts_;
  HostProofs proofs_;
  bool schedules_ = false;
  TimerId schedule_timer_{};
  Clock::time_point planned_;                    ///< when the last plan was made
  std::optional<Clock::time_point> pause_ends_;  ///< the next of a host's
  std::map<std::string, std::set<std::int64_t>> orphans_;
  JobMeters meters_;
  WhileThere while_there_;
};

}  // namespace pop::popdistd
