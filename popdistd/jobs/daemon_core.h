// SPDX-License-Identifier: Apache-2.0
// The daemon's core: what clients ask and what hosts say, put together with the tables, the store and the
// lives of jobs. Pure: time, randomness, certificates and the store come in through ports.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "popdistd/api/api.h"
#include "popdistd/api/host_gate.h"
#include "popdistd/api/measures.h"
#include "popdistd/common/commits.h"
#include "popdistd/common/revisions.h"
#include "popdistd/common/wall_clock.h"
#include "popdistd/jobs/follow/change_source.h"
#include "popdistd/jobs/follow/runner_links.h"
#include "popdistd/jobs/life/job_lives.h"
#include "popdistd/jobs/table/host_table.h"
#include "popdistd/jobs/table/job_counts.h"
#include "popdistd/jobs/table/job_scans.h"
#include "popdistd/jobs/table/job_table.h"
#include "popdistd/jobs/table/quota_table.h"
#include "popdistd/jobs/table/retention.h"
#include "popdistd/jobs/table/seen_time.h"
#include "popdistd/pods/pods.h"

namespace pop::popdistd {

struct CoreSettings {
  WallClock clock = [] { return std::chrono::system_clock::now(); };
  std::function<std::string()> random_name;  ///< a new one each time
  std::string version;
  std::function<bool(const std::string& user)> is_admin;  ///< admins may use every allocation
  IsShutOut is_shut_out;                                  ///< null: no user is
  IssueCredentials issue;                                 ///< null: jobs have one host each
  HostRules host_rules;
  RetentionSettings retention;
  std::string temporary_directory;  ///< for copies of the store
  PodSettings pods;
  queue::Rules queue;
  VipuServer vipu_server;
  std::string leader;  ///< its own address, as leader of several; empty: it is alone
  std::function<void(const std::string& line)> warn;   ///< for the log; null: not logged
  std::function<void(const std::string& line)> audit;  ///< takes what admins did by force; null: not audited
  /// The store cannot be read any more: what is in memory is not the truth, and the process is to end.
  std::function<void(const Status& why)> give_up;
};

class DaemonCore final : public NumberingApi, public HostGate {
 public:
  /// Loads the store and takes up the jobs in it. An error says what cannot be read.
  static Result<std::unique_ptr<DaemonCore>> start(Loop& loop, Store& store, CoreSettings settings);
  ~DaemonCore() override;
  DaemonCore(const DaemonCore&) = delete;
  DaemonCore& operator=(const DaemonCore&) = delete;

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override;
#include "proto/calls/controller.def"
  void submitTelling(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply,
                     const std::function<void(std::int64_t job)>& taken) override;
  void backup(const Caller& caller, v1::Nothing, Reply<std::string> reply) override;
  Result<std::unique_ptr<Source<ShownChange>>> watch(const Caller& caller, const v1::WatchRequest& request,
                                                     Ready ready) override;
  Result<std::unique_ptr<Source<v1::Record>>> logs(const Caller& caller, const v1::LogsRequest& request,
                                                   Ready ready) override;

  /// Clusters and partitions: PodsApi, VipuApi.
  Pods& pods() {
    return pods_;
  }

  /// For what is to be durable together with what the core writes.
  Commits& commits() {
    return commits_;
  }
  /// For /metrics: a look at all there is.
  CoreMeasures measures();

  /// Users have been shut out, or let in again: jobs may start now that could not.
  void rolesChanged() {
    lives_.scheduleSoon();
  }

  /// Sets the port that jobs are told from now on, where it was not known at the start.
  void listensAt(int port) {
    vipu_server_.port = port;
  }

  Status joined(const v1::HostJoins& joins, const std::string& address,
                std::shared_ptr<HostChannel> channel) override;
  void said(HostChannel& channel, v1::HostReport report) override;
  void left(HostChannel& channel, const Status& why) override;

 private:
  DaemonCore(Loop& loop, Store& store, CoreSettings settings, std::string cluster_id, std::uint64_t epoch,
             std::int64_t seen_ms);

  Status load();
  /// The number of the next job, as the store has it.
  Status loadNextJob(const std::vector<v1::JobRecord>& jobs);
  void storeFailed(const Status& why);
  void tick();
  void forgetOldJobs();
  void lookAtClock();
  void storeSeenTime();
  /// A host has seen a larger epoch than ours: of a copy of the store that is newer than this one.
  Status riseAbove(const v1::HostJoins& joins);
  /// kFailedPrecondition: it has not ended, or may still use a partition.
  Status mayForget(const Job& job);
  /// The store's refusal: it stays.
  Status forgetNow(const Job& job);
  JobMeasures jobMeasures() const;
  PodHooks podHooks();
  // Defence in depth: popdistd/access/policy.h decides who may call; callers without the operator role are
  // refused here as well.
  static bool manages(const Caller& caller) {
    return caller.role >= v1::ROLE_OPERATOR;
  }
  static Status checkManages(const Caller& caller, const std::string& what);
  /// The caller's own job, or any job for callers who manage the cluster.
  Result<Job*> controlled(const Caller& caller, const v1::JobRef& ref);
  /// Answers with the job once what has been written is durable.
  void replyWhenDurable(std::int64_t job, Reply<v1::JobInfo> reply);
  void replyWhenDurable(const std::string& host, Reply<v1::HostInfo> reply);
  Result<Host*> hostOf(const v1::HostRef& ref);
  /// Ok if the user may have one more waiting job of this kind. kResourceExhausted, kFailedPrecondition: the
  /// quota; kNotFound, kPermissionDenied: the allocation.
  Status mayWait(const Caller& caller, const Job& job) const;
  v1::QuotaInfo view(const v1::QuotaInfo& quota);
  /// The store does not know it, or cannot read it: no order goes to its runner.
  bool isLeftAlone(std::int64_t job) const;
  std::int64_t firstFreeId(const std::vector<v1::HeldRunner>& runners);
  /// Without its place if the caller may not know in which allocation the job is, and so with which
  /// partition.
  Sight sightOf(const Caller& caller, const Job& job) const;
  v1::JobInfo view(const Job& job, Sight sight = Sight::kAll) const;
  const std::string& reasonOf(const Job& job, Sight sight) const;
  v1::HostInfo view(const Host& host);
  static v1::HostInfo view(const Host& host, const std::map<std::string, HostLoad>& load);

  Loop& loop_;
  Store& store_;
  const CoreSettings settings_;
  VipuServer vipu_server_;
  const std::string cluster_id_;
  const std::uint64_t first_epoch_;  ///< of this life
  std::uint64_t epoch_ = first_epoch_;
  std::uint64_t rising_to_ = 0;  ///< the next epoch, until it is durable
  const std::chrono::system_clock::time_point started_;
  SeenTime seen_;
  Clock::time_point seen_stored_;  ///< when it was, the last time
  std::string clock_jump_;         ///< the last one
  Revisions revisions_;
  ShownChanges shown_;
  Commits commits_;
  JobTable jobs_;
  HostTable hosts_;
  RunnerLinks links_;
  Pods pods_;
  QuotaTable quotas_;
  JobLives lives_;
  JobScans scans_;
  Retention retention_;
  std::int64_t next_job_id_ = 1;
  std::int64_t skipped_jobs_ = 0;  ///< numbers that were passed over in this life, since hosts know them
  Status load_problem_;            ///< not ok: no job is known, so no host may join
  std::vector<std::string> unreadable_;
  std::set<std::int64_t> is_unreadable_;
  TimerId tick_{};
  std::optional<Clock::time_point> tick_due_;
  Histogram loop_lag_{kMomentBounds};
};

}  // namespace pop::popdistd
