// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/retention.h"

#include <algorithm>
#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::chrono::minutes kBetweenLooks{1};
constexpr std::size_t kMostAtOnce = 500;

std::int64_t whenEnded(const Job& job) {
  return (job.record.has_ended_seen() ? job.record.ended_seen() : job.info().ended()).seconds();
}

}  // namespace

std::vector<std::int64_t> Retention::due(const JobTable& jobs, std::chrono::system_clock::time_point now) {
  if (now - looked_ >= kBetweenLooks) look(jobs, now);
  const std::size_t count = std::min(due_.size(), kMostAtOnce);
  const auto end = due_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::int64_t> turn(due_.begin(), end);
  due_.erase(due_.begin(), end);
  return turn;
}

void Retention::look(const JobTable& jobs, std::chrono::system_clock::time_point now) {
  looked_ = now;
  // In seconds: of nanoseconds, three centuries are too many.
  const auto latest = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()) - settings_.age;
  std::vector<std::pair<std::int64_t, std::int64_t>> ended;  // when, and which
  for (const auto& [id, job] : jobs.all()) {
    if (job.state() == v1::JOB_ENDED) ended.emplace_back(whenEnded(job), id);
  }
  std::sort(ended.begin(), ended.end());
  const bool counts = settings_.most_jobs > 0 && ended.size() > settings_.most_jobs;
  const std::size_t too_many = counts ? ended.size() - settings_.most_jobs : 0;
  due_.clear();
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const bool is_old = settings_.age.count() > 0 && ended[i].first <= latest.count();
    if (i < too_many || is_old) due_.push_back(ended[i].second);
  }
}

}  // namespace pop::popdistd
