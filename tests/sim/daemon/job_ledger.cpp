// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/daemon/job_ledger.h"

#include <algorithm>

namespace pop::popdistd::testing {
namespace {

bool isRow(v1::JobState from, v1::JobState to) {
  return std::any_of(kJobLifeTable.begin(), kJobLifeTable.end(),
                     [&](const JobLifeRow& row) { return row.from == from && row.to == to; });
}

}  // namespace

const JobLedger::Entry* JobLedger::find(std::int64_t job) const {
  if (const auto found = turn_.find(job); found != turn_.end())
    return found->second ? &*found->second : nullptr;
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

void JobLedger::wrote(const v1::JobInfo& job) {
  const Entry now{job.state(), job.end(), job.attempt()};
  if (const Entry* const before = find(job.id())) {
    check(job.id(), *before, now);
  } else if ((now.state != v1::JOB_QUEUED && now.state != v1::JOB_HELD) || now.attempt != 0) {
    broken_("job " + std::to_string(job.id()) + " begins as " + v1::JobState_Name(now.state));
  }
  turn_[job.id()] = now;
}

void JobLedger::check(std::int64_t job, const Entry& before, const Entry& now) const {
  const std::string name = "job " + std::to_string(job);
  if (now.state != before.state && !isRow(before.state, now.state))
    broken_(name + " goes from " + v1::JobState_Name(before.state) + " to " + v1::JobState_Name(now.state) +
            ", which is no row of the table");
  const bool is_turn = before.state == v1::JOB_QUEUED && now.state == v1::JOB_STARTING;
  if (now.attempt != before.attempt + (is_turn ? 1 : 0))
    broken_(name + " goes from attempt " + std::to_string(before.attempt) + " to " +
            std::to_string(now.attempt) + " as " + v1::JobState_Name(now.state));
  if (before.state == v1::JOB_ENDED && now.end != before.end)
    broken_(name + " has ended as " + v1::JobEnd_Name(before.end) + ", and now as " +
            v1::JobEnd_Name(now.end));
}

void JobLedger::committed() {
  for (const auto& [job, entry] : std::exchange(turn_, {}))
    entry ? void(jobs_[job] = *entry) : void(jobs_.erase(job));
}

}  // namespace pop::popdistd::testing
