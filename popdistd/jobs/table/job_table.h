// SPDX-License-Identifier: Apache-2.0
// The jobs that the daemon knows: those that wait, run or have ended, as records that the store has, too.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/text.h"
#include "common/model/job_spec.h"
#include "popdistd/api/api.h"
#include "popdistd/api/measures.h"
#include "popdistd/common/revisions.h"
#include "popdistd/jobs/follow/runner_links.h"
#include "popdistd/queue/shape.h"
#include "proto/popdist/v1/store.pb.h"

namespace pop::popdistd {

/// The queue's last answer to a job that waits.
struct QueueAnswer {
  std::string text;  ///< why it waits
  std::optional<queue::Time> expected;
};

/// The data, besides its record, of a job that has not ended.
struct LiveJob {
  model::JobSpec spec;                    ///< as submitted
  std::map<std::string, int> named_load;  ///< instances on each host that it names; empty: it names none
  int largest_share = 0;                  ///< of its instances, on one host
  std::map<std::string, int> load;        ///< instances on each host, once these are chosen
  std::string shape_key;                  ///< the same for jobs that need the same hosts for the same time
  std::string pod_key;  ///< the same for jobs that ask for the same new partition; empty: for none
  std::optional<QueueAnswer> answer;  ///< of the last plan; none unless it is queued
  bool start_is_sent = false;  ///< the order to start its runner, perhaps by an earlier life of the daemon
  std::string claimed_by;      ///< a host that says it has the runner, while the job's host is not there
  std::int64_t events_stream = 0;  ///< of RunnerLinks; 0: its events are not followed
  int feeders_refused = 0;         ///< of this attempt, by a host that may have one later
};

struct Job {
  v1::JobRecord record;
  std::unique_ptr<LiveJob> live;                                  ///< null: it has ended
  bool is_counted = false;                                        ///< by JobTable, as one that waits
  std::optional<std::pair<v1::JobState, v1::JobEnd>> counted_in;  ///< likewise
  std::int64_t counted_bytes = 0;                                 ///< likewise, of its spec

  const v1::JobInfo& info() const { return record.info(); }
  v1::JobInfo& mutableInfo() { return *record.mutable_info(); }
  /// For people.
  void setReason(std::string_view why) { mutableInfo().set_reason(bounded(why)); }
  std::int64_t id() const { return record.info().id(); }
  v1::JobState state() const { return record.info().state(); }
  RunnerId runner() const { return {record.info().id(), record.info().attempt()}; }
  /// The runner's host; empty: it has no runner yet.
  std::string host() const { return record.info().hosts().empty() ? "" : record.info().hosts(0); }
  /// Its program may have begun: its runner was heard of, or has left records.
  bool hasRun() const { return info().has_started() || info().last_sequence() > 0; }
  bool hasRunner() const {
    return state() == v1::JOB_STARTING || state() == v1::JOB_RUNNING || state() == v1::JOB_ENDING;
  }
};

class JobTable {
 public:
  explicit JobTable(Revisions& revisions) : revisions_(revisions) {}

  void clear();
  /// Adds a job; it counts as changed.
  Job& add(v1::JobRecord record, std::unique_ptr<LiveJob> live);
  void remove(std::int64_t id);

  /// Call it after every change of a job's record: gives it its revision, and its place in the tables.
  void changed(Job& job);

  Job* find(std::int64_t id);
  /// The job of this id, or the newest of this name of the user's. kNotFound says what was looked for.
  Result<Job*> find(const v1::JobRef& ref, const std::string& user);
  /// By `user` and what the client has chosen; null: none.
  Job* findRequest(const std::string& request_id);

  const std::map<std::int64_t, Job>& all() const { return jobs_; }
  /// Those that are queued; held ones are not.
  const std::map<std::int64_t, Job*>& queue() const { return queue_; }
  /// The number of waiting jobs, queued and held, of the user, or that name the allocation.
  int waitingOf(const std::string& user) const { return countOf(waiting_of_user_, user); }
  int waitingIn(const std::string& allocation) const { return countOf(waiting_in_allocation_, allocation); }
  /// The size of the user's waiting jobs in the store; in memory they take more.
  std::int64_t waitingBytesOf(const std::string& user) const { return countOf(waiting_bytes_, user); }
  /// The number of jobs in each state, by their end.
  const std::map<std::pair<v1::JobState, v1::JobEnd>, std::int64_t>& inStates() const { return in_states_; }
  /// Those that have a runner, or will soon.
  const std::set<std::int64_t>& active() const { return active_; }

 private:
  Revisions& revisions_;
  std::map<std::int64_t, Job> jobs_;
  std::map<std::string, std::int64_t> requests_;
  template <typename Number>
  static Number countOf(const std::map<std::string, Number>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }
  void count(Job& job, bool waits);
  void countIn(Job& job, std::optional<std::pair<v1::JobState, v1::JobEnd>> state);

  std::map<std::int64_t, Job*> queue_;
  std::map<std::pair<v1::JobState, v1::JobEnd>, std::int64_t> in_states_;
  std::map<std::string, int> waiting_of_user_;
  std::map<std::string, int> waiting_in_allocation_;
  std::map<std::string, std::int64_t> waiting_bytes_;  ///< by user
  std::set<std::int64_t> active_;
};

/// True if the list's request selects the job.
bool matches(const v1::JobInfo& job, const v1::ListJobsRequest& request);

}  // namespace pop::popdistd
