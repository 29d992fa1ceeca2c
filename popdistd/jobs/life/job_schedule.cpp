// SPDX-License-Identifier: Apache-2.0
// The start of waiting jobs, and the answers to the others: carries out the plans of popdistd/queue.
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/life/job_lives.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;

// A plan costs a few milliseconds where ten thousand wait; it is made for all that happens meanwhile.
constexpr std::size_t kJobsPerMillisecond = 500;
// Watchers hear of each change of the jobs that come next; of those behind when what they wait for is another
// thing. Requests get the last plan's words.
constexpr int kNearJobs = 100;

v1::WaitCause causeOf(queue::Why why) {
  switch (why) {
    case queue::Why::kSlots:
      return v1::WAIT_SLOTS;
    case queue::Why::kIpus:
      return v1::WAIT_IPUS;
    case queue::Why::kPartition:
      return v1::WAIT_PARTITION;
    case queue::Why::kBehind:
      return v1::WAIT_BEHIND;
    case queue::Why::kHosts:
      return v1::WAIT_HOSTS;
    case queue::Why::kQuota:
      return v1::WAIT_QUOTA;
  }
  return v1::WAIT_NONE;
}

void setExpected(std::optional<queue::Time> expected, v1::JobInfo& info) {
  if (expected)
    *info.mutable_expected_start() = timestamp(*expected);
  else
    info.clear_expected_start();
}

}  // namespace

queue::Time JobLives::now() const {
  return std::chrono::floor<milliseconds>(parts_.clock());
}

void JobLives::scheduleSoon() {
  if (std::exchange(schedules_, true)) return;
  const auto run = [this] {
    schedules_ = false;
    schedule();
  };
  const std::size_t delay_ms = parts_.jobs.queue().size() / kJobsPerMillisecond;
  if (delay_ms == 0) return parts_.loop.post(while_there_(run));
  schedule_timer_ = parts_.loop.postAfter(milliseconds(delay_ms), run);
}

void JobLives::schedule() {
  if (parts_.jobs.queue().empty()) return;
  planned_ = parts_.loop.now();
  const QueueInput input =
      queueInput({parts_.jobs, parts_.hosts, parts_.pods, parts_.quotas, parts_.rules, parts_.is_shut_out,
                  planned_, std::chrono::floor<milliseconds>(parts_.seen.now())},
                 now());
  queue::Plan plan = queue::plan(input.snapshot);
  for (std::string& each : plan.texts) each = bounded(each);
  for (const queue::Start& each : plan.starts) startPlanned(input.snapshot, each);
  int turn = 0;
  for (const queue::Wait& each : plan.waits) {
    Job* const job = parts_.jobs.find(each.job);
    if (job == nullptr || job->state() != v1::JOB_QUEUED) continue;
    waitPlanned(*job, each, plan.texts[each.text], turn++ < kNearJobs);
  }
  for (const queue::Waiting& each : input.snapshot.waiting) {
    if (!input.never[each.shape]) continue;
    Job* const job = parts_.jobs.find(each.job);
    if (job != nullptr && job->state() == v1::JOB_QUEUED)
      happened(*job, JobLifeEvent::kCannotStart, input.snapshot.shapes[each.shape].blocked);
  }
}

void JobLives::startPlanned(const queue::Snapshot& snapshot, const queue::Start& planned) {
  Job* const job = parts_.jobs.find(planned.job);
  if (job == nullptr || job->state() != v1::JOB_QUEUED) return;
  std::vector<std::string> hosts;
  if (job->record.hosts_named()) {
    for (const model::Host& host : job->live->spec.hosts) hosts.push_back(host.name);
  } else {
    for (const queue::HostShare& share : planned.place.hosts)
      hosts.push_back(snapshot.hosts[share.host].name);
  }
  if (!planned.place.pool) return start(*job, hosts, nullptr);
  const ChosenBlock block{snapshot.pools[*planned.place.pool].allocation, planned.place.ipus};
  start(*job, hosts, &block);
}

void JobLives::waitPlanned(Job& job, const queue::Wait& planned, const std::string& reason, bool is_near) {
  const v1::WaitCause cause = causeOf(planned.why);
  job.live->answer = QueueAnswer{reason, planned.expected};
  if (job.record.no_wait()) return wait(job, cause, reason);
  if (!is_near && cause == job.info().wait_cause()) return;
  const bool has_changed = planned.expected ? !job.info().has_expected_start() ||
                                                  timeOf(job.info().expected_start()) != *planned.expected
                                            : job.info().has_expected_start();
  if (has_changed) {
    setExpected(planned.expected, job.mutableInfo());
    job.mutableInfo().clear_reason();  // it is shown again
  }
  showWaiting(job, cause, reason);
}

void JobLives::showAnswer(const Job& job, v1::JobInfo& info) const {
  info.set_reason(reasonOf(job));
  if (job.live->answer) setExpected(job.live->answer->expected, info);
}

const std::string& JobLives::reasonOf(const Job& job) const {
  static const std::string unknown = "it has not been looked at yet";
  if (job.state() != v1::JOB_QUEUED) return job.info().reason();
  if (job.live->answer) return job.live->answer->text;
  return job.info().reason().empty() ? unknown : job.info().reason();
}

void JobLives::wait(Job& job, v1::WaitCause cause, const std::string& reason) {
  if (!job.record.no_wait()) return showWaiting(job, cause, reason);
  happened(job, JobLifeEvent::kCannotStart, "it was not to wait: " + reason);
}

void JobLives::showWaiting(Job& job, v1::WaitCause cause, const std::string& reason) {
  if (job.info().reason() == reason && job.info().wait_cause() == cause) return;
  job.setReason(reason);
  job.mutableInfo().set_wait_cause(cause);
  parts_.jobs.changed(job);
}

// The partition is bound in the commit that makes the job start.
void JobLives::start(Job& job, const std::vector<std::string>& hosts, const ChosenBlock* block) {
  const LeaseAnswer lease =
      parts_.pods.take({job.id(), job.info().user(), job.record.role(), job.live->spec}, block);
  if (lease.kind == LeaseAnswer::Kind::kNever) return happened(job, JobLifeEvent::kCannotStart, lease.reason);
  if (lease.kind != LeaseAnswer::Kind::kReady) {
    job.live->answer.reset();
    job.mutableInfo().clear_expected_start();
    lease.kind == LeaseAnswer::Kind::kWaits ? wait(job, v1::WAIT_PARTITION, lease.reason)
                                            : showWaiting(job, v1::WAIT_PARTITION, lease.reason);
    return;
  }
  v1::JobInfo& info = job.mutableInfo();
  info.set_partition(job.live->spec.partition.name);
  if (info.allocation().empty()) info.set_allocation(parts_.pods.allocationOf(info.partition()));
  info.clear_hosts();
  for (const std::string& host : hosts) info.add_hosts(host);
  info.set_attempt(info.attempt() + 1);
  if (info.attempt() == 1)
    meters_.queue_seconds.add(secondsBetween(info.submitted(), timestamp(parts_.clock())));
  job.live->load = loadOn(job.live->spec, hosts);
  job.live->start_is_sent = false;
  happened(job, JobLifeEvent::kTurn);
}

}  // namespace pop::popdistd
