// SPDX-License-Identifier: Apache-2.0
// Steps of jobs' lives: here alone a job's state changes, and what follows from that is done.
#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/life/job_lives.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;

v1::JobEnd failedOrCancelled(const Job& job) {
  return job.record.cancels() > 0 ? v1::END_CANCELLED : v1::END_FAILED;
}

v1::JobEnd endByOutcome(const Job& job) {
  const v1::JobOutcome& outcome = job.info().outcome();
  if (job.record.cancels() == 0 && outcome.timed_out()) return v1::END_TIMED_OUT;
  return job.record.cancels() == 0 && outcome.exit_code() == 0 ? v1::END_SUCCEEDED : failedOrCancelled(job);
}

}  // namespace

void JobLives::happened(Job& job, JobLifeEvent event, const std::string& why) {
  const std::optional<JobLifeTransition> next = step(job.state(), event);
  if (!next) return;
  v1::JobInfo& info = job.mutableInfo();
  info.set_state(next->to);
  job.setReason(why);
  info.clear_wait_cause();
  info.clear_expected_start();
  carryOut(job, next->action);
}

void JobLives::carryOut(Job& job, JobLifeAction action) {
  switch (action) {
    case JobLifeAction::kPlan:
      save(job);
      return scheduleSoon();
    case JobLifeAction::kOrderStart:
      save(job);
      return orderStartWhenDurable(job);
    case JobLifeAction::kWaitAgain:
      return waitAgain(job);
    case JobLifeAction::kBeginRun:
      return beginRun(job);
    case JobLifeAction::kStop:
      save(job);
      return stop(job, job.record.cancels());
    case JobLifeAction::kAskForProof:
      save(job);
      return askForProof(job);
    case JobLifeAction::kEndFailed:
      return end(job, failedOrCancelled(job));
    case JobLifeAction::kEndCancelled:
      return end(job, v1::END_CANCELLED);
    case JobLifeAction::kEndLost:
      return end(job, v1::END_LOST);
    case JobLifeAction::kEndByOutcome:
      return end(job, endByOutcome(job));
  }
}

void JobLives::orderStartWhenDurable(const Job& job) {
  parts_.commits.whenDurable([this, id = job.id(), attempt = job.info().attempt()](const Status& status) {
    if (status.ok()) orderStart(id, attempt);
  });
}

// The host removes what this attempt has left; the next one has another number.
void JobLives::waitAgain(Job& job) {
  remove(job.host(), keyOf(job.runner()));
  parts_.links.unfollow(std::exchange(job.live->events_stream, 0));
  parts_.pods.giveBack(job.id());
  v1::JobInfo& info = job.mutableInfo();
  info.clear_hosts();
  info.clear_partition();
  info.set_allocation(job.record.allocation());
  job.live->load.clear();
  job.live->start_is_sent = false;
  job.live->feeders_refused = 0;
  save(job);
  scheduleSoon();
}

void JobLives::beginRun(Job& job) {
  if (Host* const host = parts_.hosts.find(job.host())) {
    host->pauses.erase(job.info().user());
    host->started_runner = parts_.loop.now();
  }
  job.live->start_is_sent = true;
  noteRun(job);
  save(job);
}

void JobLives::noteRun(Job& job) const {
  if (job.info().has_started()) return;
  *job.mutableInfo().mutable_started() = timestamp(parts_.clock());
  *job.record.mutable_started_seen() = timestamp(parts_.seen.now());
}

// Each cancel is one order, which may be given again after a connection was lost: the runner knows its
// number.
void JobLives::stop(const Job& job, int number) {
  v1::RunnerOrder order;
  order.mutable_stop()->set_number(number);
  order.mutable_stop()->set_signal(SIGTERM);
  parts_.commits.whenDurable(
      [this, id = job.id(), attempt = job.info().attempt(), order](const Status& status) {
        const Job* const stored = parts_.jobs.find(id);
        if (status.ok() && isCurrent(stored, attempt))
          parts_.links.order(stored->host(), stored->runner(), order);
      });
}

void JobLives::end(Job& job, v1::JobEnd how) {
  proofs_.forget(job.id());
  parts_.links.unfollow(job.live->events_stream);
  const std::string partition = job.live->spec.partition.name;
  const auto seen = std::chrono::floor<milliseconds>(parts_.seen.now());
  if (const double used = usedSoFar(job, seen); used > 0) parts_.quotas.addUse(job.info().user(), used, seen);
  v1::JobInfo& info = job.mutableInfo();
  info.set_end(how);
  info.clear_conditions();
  info.set_instances_running(0);
  *info.mutable_ended() = timestamp(parts_.clock());
  *job.record.mutable_ended_seen() = timestamp(parts_.seen.now());
  ++meters_.ended[static_cast<std::size_t>(how)];
  if (info.has_started()) meters_.run_seconds.add(secondsBetween(info.started(), info.ended()));
  const std::unique_ptr<std::string> spec(job.record.release_spec());  // to clear it would keep its memory
  job.record.clear_lost_why();
  job.live = nullptr;
  save(job);
  how == v1::END_LOST ? parts_.pods.lost(job.id(), info.reason()) : letPartitionGo(job, partition);
  scheduleSoon();
}

}  // namespace pop::popdistd
