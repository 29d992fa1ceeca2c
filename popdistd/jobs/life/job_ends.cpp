// SPDX-License-Identifier: Apache-2.0
// The arrival of jobs' records, and the end of jobs.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "common/contract/record_streams.h"
#include "common/contract/report_page.h"
#include "common/model/job_record.h"
#include "popdistd/jobs/host_bounds.h"
#include "popdistd/jobs/life/job_lives.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;

// Limit of one job's events in the store; beyond, only the outcome is kept, and the rest is on the job's
// host.
constexpr std::int64_t kMaxEventBytes = 16 << 20;
constexpr std::int64_t kEventCredit = 4 << 20;
constexpr std::chrono::seconds kReplanAfter{10};
constexpr int kMaxRefusedFeeders = 10;  // one for each tick()

std::string reasonIn(const Job& job, const v1::JobOutcome& outcome) {
  if (job.record.cancels() > 0) return job.record.cancel_reason();
  if (!outcome.has_failure()) return "";
  const v1::Failure& failure = outcome.failure();
  const std::string who =
      failure.has_instance() ? "instance " + std::to_string(failure.instance()) + " " : "";
  return who + printable(failure.reason());
}

// "" if there is none.
std::string conditionOf(const Job& job, const Host& host) {
  if (host.info().state() == v1::HOST_UP) return "";
  const std::string silent = "unreachable: host " + job.host() + " is silent";
  if (job.live->claimed_by.empty()) return silent;
  return silent + ", and host " + job.live->claimed_by +
         " has its runner: if that is the same host, give it its name again (popdist-agent serve --name " +
         job.host() + ")";
}

// All but the first, which has its runner.
std::set<std::string> otherHosts(const Job& job) {
  const auto& hosts = job.info().hosts();
  if (hosts.empty()) return {};
  return {hosts.begin() + 1, hosts.end()};
}

}  // namespace

// ---- records

void JobLives::follow(Job& job) {
  if (job.live->events_stream != 0) return;
  const std::int64_t id = job.id();
  const std::int32_t attempt = job.info().attempt();
  job.live->events_stream = parts_.links.follow(
      job.host(), job.runner(),
      {.from_sequence = job.info().last_sequence() + 1, .events_only = true, .credit_bytes = kEventCredit},
      {.records = [this, id, attempt](const v1::Records& records) { take(id, attempt, records); },
       .ended = [this, id, attempt](const Status& why) { recordsEnded(id, attempt, why); }});
}

void JobLives::take(std::int64_t id, std::int32_t attempt, const v1::Records& records) {
  std::int64_t bytes = 0;
  for (const v1::StoredRecord& record : records.records()) {
    Job* const job = parts_.jobs.find(id);
    if (!isCurrent(job, attempt) || !job->hasRunner()) return;
    bytes += contract::creditOf(record.bytes().size());
    if (record.kind() == static_cast<int>(runner::RecordKind::kEvent)) takeEvent(*job, record);
  }
  parts_.links.credit(records.stream(), bytes);
}

void JobLives::takeEvent(Job& job, const v1::StoredRecord& record) {
  v1::JobEvent event;
  if (!event.ParseFromString(record.bytes())) return;
  v1::JobInfo& info = job.mutableInfo();
  const std::string text = bound(event) ? event.SerializeAsString() : record.bytes();
  const auto bytes = static_cast<std::int64_t>(text.size());
  const bool fits = job.record.event_bytes() + bytes <= kMaxEventBytes;
  if (fits || event.has_outcome()) {
    const Status kept = parts_.commits.tried(parts_.store.putEvent(job.id(), {record.sequence(), text}));
    if (kept.ok()) job.record.set_event_bytes(job.record.event_bytes() + bytes);
  }
  info.set_last_sequence(record.sequence());
  noteRun(job);
  if (event.has_restarting()) info.set_restarts(std::max(0, event.restarting().restart()));
  const int change = event.log().kind() == v1::EVENT_INSTANCE_STARTED ? 1
                     : event.log().kind() == v1::EVENT_INSTANCE_ENDED ? -1
                                                                      : 0;
  info.set_instances_running(std::clamp(info.instances_running() + change, 0, info.num_instances()));
  if (change > 0 && info.restarts() == 0 && info.instances_running() == info.num_instances())
    meters_.start_seconds.add(secondsBetween(info.submitted(), timestamp(parts_.clock())));
  event.has_outcome() ? finish(job, event.outcome()) : save(job);
}

// In memory; the next record of the job has them, too. They come once a second, and a daemon that has been
// restarted hears of them then.
void JobLives::takeValues(Job& job, const v1::JobValues& values) {
  constexpr std::size_t kMostNameBytes = 4 * contract::kMostReportedNameBytes;  // all of it escaped
  job.mutableInfo().clear_values();
  for (const v1::JobValue& each : values.values()) {
    if (job.info().values_size() == static_cast<int>(contract::kMostReportedNames)) break;
    const bool is_whole = !each.name().empty() && each.name().size() <= kMostNameBytes &&
                          v1::Fold_IsValid(each.fold()) && std::isfinite(each.value());
    if (!is_whole) continue;
    v1::JobValue& added = *job.mutableInfo().add_values() = each;
    added.set_instances(std::clamp(each.instances(), 0, job.info().num_instances()));
  }
  parts_.jobs.changed(job);
}

void JobLives::finish(Job& job, const v1::JobOutcome& outcome) {
  *job.mutableInfo().mutable_outcome() = outcome;
  job.mutableInfo().mutable_outcome()->clear_stack_traces();  // which can be long; its event has them
  const std::string host = job.host();
  const RunnerId runner = job.runner();
  happened(job, JobLifeEvent::kOutcome, reasonIn(job, outcome));
  parts_.commits.whenDurable([this, host, runner](const Status& status) {
    v1::RunnerOrder order;
    order.mutable_retire();
    if (status.ok()) parts_.links.order(host, runner, std::move(order));
  });
}

// Without an outcome: the records' writer was killed, or they cannot be read. A job with records has run, and
// one may have whose records cannot be read: a host that cannot serve them now, as one that is being stopped,
// is asked again.
void JobLives::recordsEnded(std::int64_t id, std::int32_t attempt, const Status& why) {
  Job* const job = parts_.jobs.find(id);
  if (!isCurrent(job, attempt) || !job->hasRunner()) return;
  job->live->events_stream = 0;
  if (job->state() == v1::JOB_STARTING && why.code() == Code::kUnavailable &&
      ++job->live->feeders_refused < kMaxRefusedFeeders)
    return;  // until the next tick()
  const bool has_all = why.ok() || why.code() == Code::kNotFound;
  if (has_all && !job->hasRun()) return missing(*job);
  runnerLost(*job, "its runner on host " + job->host() + " was killed" +
                       (has_all ? "" : " (" + why.message() + ")"));
}

// ---- ends

void JobLives::runnerLost(Job& job, const std::string& why) {
  if (!job.record.lost_why().empty()) return;
  job.record.set_lost_why(why);
  happened(job, JobLifeEvent::kRunnerGone, why);
}

// On the first, its keeper ends it.
void JobLives::askForProof(const Job& job) {
  proofs_.ask({job.id(), job.record.agent_job_id(), otherHosts(job)}, [this, id = job.id()] {
    Job* const lost = parts_.jobs.find(id);
    if (lost != nullptr && !lost->record.lost_why().empty())
      happened(*lost, JobLifeEvent::kHostsFree, lost->record.lost_why());
  });
}

// An outcome is told when all instances have ended, except on hosts that were lost.
void JobLives::letPartitionGo(const Job& job, const std::string& partition) {
  const v1::JobOutcome& outcome = job.info().outcome();
  const bool has_lost_hosts = outcome.failure().hosts_lost() || outcome.hosts_unanswered() > 0;
  if (!has_lost_hosts || parts_.pods.heldBy(job.id()).empty()) return parts_.pods.ended(job.id(), partition);
  proofs_.askSoon({job.id(), job.record.agent_job_id(), otherHosts(job)},
                  [this, id = job.id(), partition] { parts_.pods.ended(id, partition); });
}

// The runner of a lost job is gone; until now the job has kept its partition.
void JobLives::hostIsFree(const Host& host, const RunnerId& runner) {
  const Job* const job = parts_.jobs.find(runner.first);
  if (job == nullptr || job->runner() != runner || job->host() != host.info().name() ||
      job->info().end() != v1::END_LOST || parts_.pods.heldBy(job->id()).empty())
    return;
  proofs_.ask({job->id(), job->record.agent_job_id(), otherHosts(*job)},
              [this, id = job->id()] { parts_.pods.ended(id, ""); });
}

void JobLives::hostRemoved(const std::string& name) {
  orphans_.erase(name);
  const std::set<std::int64_t> active = parts_.jobs.active();
  for (const std::int64_t id : active) {
    Job& job = *parts_.jobs.find(id);
    if (job.host() == name)
      happened(job, JobLifeEvent::kHostLost, "host " + name + " was removed from the cluster");
  }
}

// Its stream may be there, and would go on without a word of its runners.
void JobLives::closeStream(Host& host, const std::string& why) {
  if (host.channel == nullptr) return;
  const std::shared_ptr<HostChannel> channel = host.channel;
  parts_.links.left(host.info().name());
  parts_.hosts.left(host);
  channel->close(unavailable(why));
}

void JobLives::tick() {
  // Times that are expected, and who has waited for long, change by themselves.
  const bool is_time =
      parts_.loop.now() - planned_ >= kReplanAfter || (pause_ends_ && parts_.loop.now() >= *pause_ends_);
  if (!parts_.jobs.queue().empty() && is_time) {
    pause_ends_.reset();
    scheduleSoon();
  }
  const std::set<std::int64_t> active = parts_.jobs.active();
  for (const std::int64_t id : active) {
    Job& job = *parts_.jobs.find(id);
    Host* const host = parts_.hosts.find(job.host());
    if (host == nullptr) continue;
    const auto silence = std::chrono::duration_cast<milliseconds>(parts_.loop.now() - host->heard);
    if (host->info().state() == v1::HOST_UP) job.live->claimed_by.clear();
    if (job.live->feeders_refused > 0 && job.state() == v1::JOB_STARTING) follow(job);
    const std::string condition = conditionOf(job, *host);
    if (!condition.empty() && silence.count() > job.record.lost_after_ms()) {
      happened(job, JobLifeEvent::kHostLost,
               "host " + job.host() + " has been silent for " + secondsText(silence) + " s");
      closeStream(*host, "a job of this host counts as lost: join again, and say what runs");
      continue;
    }
    const std::string shown = job.info().conditions().empty() ? "" : job.info().conditions(0);
    if (shown == condition) continue;
    job.mutableInfo().clear_conditions();
    if (!condition.empty()) job.mutableInfo().add_conditions(condition);
    parts_.jobs.changed(job);
  }
}

}  // namespace pop::popdistd
