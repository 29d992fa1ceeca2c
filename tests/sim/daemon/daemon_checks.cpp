// SPDX-License-Identifier: Apache-2.0
// The rules that hold after each step, when all have heard of all, and at the end.
#include <algorithm>

#include "common/base/text.h"
#include "tests/sim/daemon/daemon_world.h"

namespace pop::popdistd::testing {
namespace {

bool hasRunner(const v1::JobInfo& job) {
  return job.state() == v1::JOB_STARTING || job.state() == v1::JOB_RUNNING || job.state() == v1::JOB_ENDING;
}

std::string nameOf(const v1::JobInfo& job) {
  return "job " + std::to_string(job.id()) + " (" + v1::JobState_Name(job.state()) + ", " +
         v1::JobEnd_Name(job.end()) + ", attempt " + std::to_string(job.attempt()) + ", " + job.reason() +
         ")";
}

}  // namespace

void DaemonWorld::broken(const std::string& rule) {
  broken_.push_back(rule);
}

std::vector<v1::JobInfo> DaemonWorld::list() {
  Answer<v1::ListJobsReply> listed;
  v1::ListJobsRequest request;
  request.set_page_size(1000);
  core_->list(callerOf("alice"), request, listed.reply());
  if (listed.code() != Code::kOk) broken("the list of jobs: " + listed.words());
  return {listed.value().jobs().begin(), listed.value().jobs().end()};
}

void DaemonWorld::checkNow() {
  const std::vector<v1::JobInfo> jobs = list();
  std::map<std::int64_t, const v1::JobInfo*> by_id;
  for (const v1::JobInfo& job : jobs) {
    by_id[job.id()] = &job;
    checkReason(job);
  }
  for (const auto& [id, known] : jobs_) {
    if (known.is_forgotten) continue;
    if (!by_id.contains(id))
      broken("job " + std::to_string(id) + " was acknowledged, and is lost");
    else if (known.is_over && by_id[id]->state() != v1::JOB_ENDED)
      broken(nameOf(*by_id[id]) + " was acknowledged as ended");
  }
  checkSlots(jobs);
  checkAttempts();
  Answer<v1::CountJobsReply> counts;
  core_->countJobs(callerOf("alice"), {}, counts.reply());
  if (counts.code() != Code::kOk) broken("the count of jobs: " + counts.words());
}

// Each number of instances has a sentence of its own.
void DaemonWorld::checkReason(const v1::JobInfo& job) {
  if (job.state() == v1::JOB_HELD && !job.reason().empty() && job.reason() != "held")
    broken(nameOf(job) + " has the reason of another state");
  if (job.state() != v1::JOB_QUEUED) return;
  const std::string own = "it needs " + counted(job.num_instances(), "slot");
  const bool is_of_another = job.reason().starts_with("it needs ") &&
                             job.reason().find(" slot") != std::string::npos && job.hosts().empty() &&
                             !job.reason().starts_with(own) && !job.reason().starts_with("it needs 1 host") &&
                             !job.reason().starts_with("it needs 2 hosts");
  if (is_of_another || job.reason() == "held") broken(nameOf(job) + " has the reason of another");
}

// All instances of a job fit, or it is there alone.
void DaemonWorld::checkSlots(const std::vector<v1::JobInfo>& jobs) {
  std::map<std::string, std::pair<int, int>> used;  // instances, jobs
  for (const v1::JobInfo& job : jobs) {
    if (!hasRunner(job)) continue;
    if (job.hosts().empty()) broken(nameOf(job) + " has no host");
    for (const std::string& host : job.hosts()) {
      used[host].first += job.num_instances() / job.hosts_size();
      ++used[host].second;
    }
  }
  for (const auto& [host, all] : used) {
    if (all.first > slots_.at(host) && all.second > 1)
      broken("host " + host + " has " + std::to_string(all.first) + " instances on " +
             std::to_string(slots_.at(host)) + " slots");
  }
}

void DaemonWorld::checkAttempts() {
  std::map<RunnerId, int> given;
  for (const auto& [name, host] : hosts_) {
    for (const auto& [id, times] : host.given) {
      if ((given[id] += times) > 1)
        broken("attempt " + std::to_string(id.second) + " of job " + std::to_string(id.first) +
               " was given twice");
    }
  }
}

// A program that runs is that of its job's attempt.
void DaemonWorld::checkSettled() {
  const std::vector<v1::JobInfo> jobs = list();
  for (const auto& [name, host] : hosts_) {
    if (!host.isJoined() || host.is_slow) continue;
    for (const auto& [id, runner] : host.runners) {
      if (!runner.alive || runner.job_over) continue;
      const auto job = std::find_if(jobs.begin(), jobs.end(),
                                    [&](const v1::JobInfo& each) { return each.id() == id.first; });
      const std::string what =
          "attempt " + std::to_string(id.second) + " of job " + std::to_string(id.first) + " runs on " + name;
      if (job == jobs.end())
        broken(what + ", and there is no such job");
      else if (!hasRunner(*job) || job->attempt() != id.second || job->hosts(0) != name)
        broken(what + ": " + nameOf(*job));
    }
  }
}

// ---- the end

void DaemonWorld::checkEnd() {
  std::map<std::int64_t, int> ran;
  for (const auto& [name, host] : hosts_) {
    for (const auto& [id, starts] : host.starts) {
      if (starts > 1) broken("job " + std::to_string(id.first) + " began twice in one attempt");
      if (told_.contains(id) && !late_.contains(id) && !wiped_.contains(name)) ++ran[id.first];
    }
  }
  for (const auto& [id, times] : ran) {
    if (times > 1) broken("job " + std::to_string(id) + " ran in " + std::to_string(times) + " attempts");
  }
  for (const v1::JobInfo& job : list()) {
    ++ends_[v1::JobEnd_Name(job.end())];
    if (job.state() != v1::JOB_ENDED) broken(nameOf(job) + " does not end");
    checkOutcome(job);
    checkEvents(job);
  }
  checkPartitions();
}

void DaemonWorld::checkOutcome(const v1::JobInfo& job) {
  const RunnerId id{job.id(), job.attempt()};
  const auto code = codes_.find(id);
  if (job.has_outcome() && (code == codes_.end() || code->second != job.outcome().exit_code()))
    broken(nameOf(job) + " ends as its program has not");
  const bool is_excused =
      job.end() == v1::END_LOST || late_.contains(id) || job.hosts().empty() || wiped_.contains(job.hosts(0));
  if (!job.has_outcome() && code != codes_.end() && !is_excused)
    broken(nameOf(job) + " ends without the outcome of its program");
}

// Whole, and each once.
void DaemonWorld::checkEvents(const v1::JobInfo& job) {
  if (job.hosts().empty() || !job.has_outcome()) return;
  const auto& runners = hosts_.at(job.hosts(0)).runners;
  const auto runner = runners.find({job.id(), job.attempt()});
  if (runner == runners.end()) return;
  std::vector<StoredEvent> expected;
  for (const v1::StoredRecord& record : runner->second.records) {
    if (record.kind() == kEventRecord) expected.push_back({record.sequence(), record.bytes()});
  }
  if (store_->events(job.id(), 1, 10000).value() != expected)
    broken(nameOf(job) + " has other events than its runner's");
}

void DaemonWorld::checkPartitions() {
  Answer<v1::ListPodPartitionsReply> listed;
  core_->pods().api().listPartitions(callerOf("root"), {}, listed.reply());
  settle();
  if (listed.code() != Code::kOk) return broken("the list of partitions: " + listed.words());
  for (const v1::PartitionInfo& each : listed.value().partitions()) {
    if (each.job() != 0 || each.goes_with_job() != 0)
      broken("partition " + each.id() + " is still that of " +
             nameOf(job(each.job() != 0 ? each.job() : each.goes_with_job())) + ": " +
             each.ShortDebugString());
  }
}

}  // namespace pop::popdistd::testing
