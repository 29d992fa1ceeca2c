// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/overview.h"

#include <algorithm>

#include "common/base/text.h"
#include "popctl/jobs/states.h"

namespace pop::popctl {
namespace {

int rankForTop(const v1::JobInfo& job) {
  if (job.state() == v1::JOB_ENDED) return 2;
  return waits(job) ? 1 : 0;
}

}  // namespace

void Overview::apply(const v1::Change& change) {
  switch (change.body_case()) {
    case v1::Change::kSnapshotBegins:
      whole_ = false;
      jobs_.clear();
      hosts_.clear();
      return;
    case v1::Change::kSnapshotEnds:
      whole_ = true;
      return;
    case v1::Change::kJob:
      jobs_[change.job().id()] = change.job();
      return;
    case v1::Change::kJobForgotten:
      jobs_.erase(change.job_forgotten());
      return;
    case v1::Change::kHost:
      hosts_[change.host().name()] = change.host();
      return;
    case v1::Change::kHostRemoved:
      hosts_.erase(change.host_removed());
      return;
    case v1::Change::kPartition:
    case v1::Change::kPartitionRemoved:
    case v1::Change::kInventory:
    case v1::Change::BODY_NOT_SET:
      return;  // not shown
  }
}

std::vector<v1::JobInfo> Overview::jobs(const JobFilter& filter) const {
  std::vector<v1::JobInfo> found;
  for (auto each = jobs_.rbegin(); each != jobs_.rend(); ++each) {
    if (matches(each->second, filter)) found.push_back(each->second);
  }
  return found;
}

std::vector<v1::HostInfo> Overview::hosts() const {
  std::vector<v1::HostInfo> all;
  for (const auto& [name, host] : hosts_) all.push_back(host);
  return all;
}

bool matches(const v1::JobInfo& job, const JobFilter& filter) {
  const auto& states = filter.states;
  const auto& hosts = job.hosts();
  return (filter.user.empty() || job.user() == filter.user) &&
         (filter.name.empty() || job.name() == filter.name) &&
         (states.empty() || std::find(states.begin(), states.end(), job.state()) != states.end()) &&
         (filter.host.empty() || std::find(hosts.begin(), hosts.end(), filter.host) != hosts.end());
}

std::vector<v1::JobInfo> forTop(std::vector<v1::JobInfo> jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const v1::JobInfo& one, const v1::JobInfo& other) {
    return rankForTop(one) < rankForTop(other);
  });
  return jobs;
}

std::string countsText(const std::vector<v1::JobInfo>& jobs, const std::vector<v1::HostInfo>& hosts) {
  const auto running =
      std::count_if(jobs.begin(), jobs.end(), [](const v1::JobInfo& job) { return rankForTop(job) == 0; });
  const auto waiting = std::count_if(jobs.begin(), jobs.end(), waits);
  const auto up = std::count_if(hosts.begin(), hosts.end(),
                                [](const v1::HostInfo& host) { return host.state() == v1::HOST_UP; });
  return counted(running, "job") + " running, " + std::to_string(waiting) + " waiting; " +
         std::to_string(up) + " of " + counted(static_cast<std::int64_t>(hosts.size()), "host") + " up";
}

}  // namespace pop::popctl
