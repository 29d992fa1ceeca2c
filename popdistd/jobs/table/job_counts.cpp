// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/job_counts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace pop::popdistd {
namespace {

constexpr std::size_t kMaxReasons = 20;

struct Waiting {
  const v1::JobInfo* first = nullptr;
  std::int64_t jobs = 0;
};

void addWaiting(const JobTable& jobs, const ReasonOf& reason_of, v1::CountJobsReply& counts) {
  std::map<std::string_view, Waiting> by_reason;
  for (const auto& [id, job] : jobs.queue()) {
    Waiting& waiting = by_reason[reason_of(*job)];
    ++waiting.jobs;
    if (waiting.first == nullptr) waiting.first = &job->info();
  }
  std::vector<std::pair<std::string_view, Waiting>> sorted(by_reason.begin(), by_reason.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.jobs > b.second.jobs; });
  if (sorted.size() > kMaxReasons) sorted.resize(kMaxReasons);
  for (const auto& [reason, waiting] : sorted) {
    v1::WaitingJobs& added = *counts.add_waiting();
    added.set_reason(std::string(reason));
    added.set_jobs(waiting.jobs);
    added.set_first_job(waiting.first->id());
    *added.mutable_since() = waiting.first->submitted();
  }
}

}  // namespace

bool hasText(const Job& job, const ReasonOf& reason_of, std::string_view text) {
  if (text.empty()) return true;
  const auto has = [text](std::string_view of) {
    return std::search(of.begin(), of.end(), text.begin(), text.end(), [](char each, char wanted) {
             return (each >= 'A' && each <= 'Z' ? each - 'A' + 'a' : each) == wanted;
           }) != of.end();
  };
  const v1::JobInfo& info = job.info();
  return has(std::to_string(info.id())) || has(info.name()) || has(info.user()) || has(reason_of(job)) ||
         has(job.host()) || std::any_of(info.command().begin(), info.command().end(), has);
}

v1::CountJobsReply countOf(const JobTable& jobs, const ReasonOf& reason_of) {
  v1::CountJobsReply counts;
  for (const auto& [state, number] : jobs.inStates()) {
    v1::JobsInState& added = *counts.add_counts();
    added.set_state(state.first);
    added.set_end(state.second);
    added.set_jobs(number);
  }
  addWaiting(jobs, reason_of, counts);
  return counts;
}

v1::JobInfo brief(v1::JobInfo job) {
  job.clear_shown();
  if (job.has_outcome()) job.mutable_outcome()->clear_stack_traces();
  return job;
}

}  // namespace pop::popdistd
