// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/job_table.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"

namespace pop::popdistd {

void JobTable::clear() {
  jobs_.clear();
  requests_.clear();
  queue_.clear();
  in_states_.clear();
  waiting_of_user_.clear();
  waiting_in_allocation_.clear();
  waiting_bytes_.clear();
  active_.clear();
}

Job& JobTable::add(v1::JobRecord record, std::unique_ptr<LiveJob> live) {
  Job& job = jobs_[record.info().id()];
  job.record = std::move(record);
  job.live = std::move(live);
  if (!job.record.request_id().empty()) requests_[job.record.request_id()] = job.id();
  job.mutableInfo().set_revision(0);
  changed(job);
  return job;
}

void JobTable::remove(std::int64_t id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  queue_.erase(id);
  count(job, false);
  countIn(job, std::nullopt);
  active_.erase(id);
  requests_.erase(job.record.request_id());
  revisions_.removed(id, job.info().revision());
  jobs_.erase(found);
}

void JobTable::changed(Job& job) {
  job.mutableInfo().set_revision(revisions_.changed(job.id(), job.info().revision()));
  job.state() == v1::JOB_QUEUED ? void(queue_.emplace(job.id(), &job)) : void(queue_.erase(job.id()));
  count(job, job.state() == v1::JOB_QUEUED || job.state() == v1::JOB_HELD);
  countIn(job, std::pair(job.state(), job.info().end()));
  if (job.live != nullptr && job.state() != v1::JOB_QUEUED) job.live->answer.reset();
  job.hasRunner() ? void(active_.insert(job.id())) : void(active_.erase(job.id()));
}

void JobTable::count(Job& job, bool waits) {
  if (std::exchange(job.is_counted, waits) == waits) return;
  const auto change = [&](auto& counts, const std::string& name, auto by) {
    if ((counts[name] += waits ? by : -by) == 0) counts.erase(name);
  };
  if (waits) job.counted_bytes = static_cast<std::int64_t>(job.record.spec().size());
  change(waiting_bytes_, job.info().user(), job.counted_bytes);
  change(waiting_of_user_, job.info().user(), 1);
  if (!job.record.allocation().empty()) change(waiting_in_allocation_, job.record.allocation(), 1);
}

void JobTable::countIn(Job& job, std::optional<std::pair<v1::JobState, v1::JobEnd>> state) {
  if (job.counted_in == state) return;
  if (state) ++in_states_[*state];
  const auto before = job.counted_in ? in_states_.find(*job.counted_in) : in_states_.end();
  if (before != in_states_.end() && --before->second == 0) in_states_.erase(before);
  job.counted_in = state;
}

Job* JobTable::find(std::int64_t id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

Result<Job*> JobTable::find(const v1::JobRef& ref, const std::string& user) {
  if (ref.name().empty()) {
    if (Job* const job = find(ref.id())) return job;
    return Status(Code::kNotFound, "there is no job " + std::to_string(ref.id()));
  }
  for (auto each = jobs_.rbegin(); each != jobs_.rend(); ++each) {
    const v1::JobInfo& info = each->second.info();
    if (info.name() == ref.name() && info.user() == user) return &each->second;
  }
  return Status(Code::kNotFound, "user " + inQuotes(user) + " has no job " + inQuotes(ref.name()));
}

Job* JobTable::findRequest(const std::string& request_id) {
  const auto found = requests_.find(request_id);
  return found == requests_.end() ? nullptr : find(found->second);
}

namespace {

bool isIn(const auto& list, const auto& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool matches(const v1::JobInfo& job, const v1::ListJobsRequest& request) {
  if (!request.user().empty() && job.user() != request.user()) return false;
  if (!request.name().empty() && job.name() != request.name()) return false;
  if (!request.host().empty() &&
      std::find(job.hosts().begin(), job.hosts().end(), request.host()) == job.hosts().end())
    return false;
  return isIn(request.states(), job.state()) && isIn(request.ends(), job.end());
}

}  // namespace pop::popdistd
