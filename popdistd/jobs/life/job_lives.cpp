// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/life/job_lives.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/job_request.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;

constexpr int kMaxRefusals = 3;
constexpr std::size_t kMostPauseWords = 1024;

bool isHostsFault(Code code) {
  switch (code) {
    case Code::kUnknown:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
    case Code::kInternal:
    case Code::kUnavailable:
    case Code::kDataLoss:
      return true;
    default:
      return false;
  }
}
}  // namespace

// ---- what clients want

Status JobLives::submitted(const Job& job) {
  POP_RETURN_IF_ERROR(parts_.commits.tried(parts_.store.putJob(job.record)));
  scheduleSoon();
  return {};
}

bool JobLives::cancel(Job& job, const std::string& why) {
  if (job.state() == v1::JOB_ENDED) return false;
  job.record.set_cancels(job.record.cancels() + 1);
  job.record.set_cancel_reason(why);
  happened(job, job.live->start_is_sent ? JobLifeEvent::kCancel : JobLifeEvent::kDrop, why);
  return true;
}

Status JobLives::signal(Job& job, int signal) {
  const std::string name = "job " + std::to_string(job.id());
  if (job.state() != v1::JOB_RUNNING && job.state() != v1::JOB_ENDING)
    return failedPrecondition(name + (job.state() == v1::JOB_ENDED ? " has ended" : " does not run yet"));
  v1::RunnerOrder order;
  order.set_signal(signal);
  if (parts_.links.order(job.host(), job.runner(), std::move(order))) return {};
  return unavailable(name + ": host " + job.host() + ", which has its runner, does not answer");
}

Status JobLives::hold(Job& job) {
  if (!step(job.state(), JobLifeEvent::kHold))
    return failedPrecondition("job " + std::to_string(job.id()) +
                              " does not wait any more: only waiting jobs can be held");
  happened(job, JobLifeEvent::kHold, "held");
  return {};
}

Status JobLives::release(Job& job) {
  if (job.state() == v1::JOB_QUEUED) return {};
  if (!step(job.state(), JobLifeEvent::kRelease))
    return failedPrecondition("job " + std::to_string(job.id()) + " is not held");
  happened(job, JobLifeEvent::kRelease);
  return {};
}

// ---- starting; what starts: job_schedule.cpp

// It may have been cancelled while it was stored.
void JobLives::orderStart(std::int64_t id, std::int32_t attempt) {
  Job* const job = parts_.jobs.find(id);
  if (!isCurrent(job, attempt) || job->state() != v1::JOB_STARTING) return;
  Result<v1::HostOrder> order = startOrder(*job);
  if (!order.ok()) return happened(*job, JobLifeEvent::kCannotStart, order.status().message());
  const Host* const host = parts_.hosts.find(job->host());
  if (host == nullptr || host->channel == nullptr) return missing(*job);
  job->live->start_is_sent = true;
  host->channel->send(std::move(*order));
}

Result<v1::HostOrder> JobLives::startOrder(const Job& job) const {
  v1::HostOrder order;
  v1::StartRunner& start = *order.mutable_start();
  *start.mutable_key() = keyOf(job.runner());
  start.set_user(job.info().user());
  POP_ASSIGN_OR_RETURN(const std::string system, parts_.pods.systemOf({job.id(), job.info().user(),
                                                                       job.record.role(), job.live->spec}));
  start.set_spec(specFor(job.live->spec, {job.info().hosts().begin(), job.info().hosts().end()},
                         parts_.vipu_server, system));
  start.set_log_limit_bytes(job.record.log_limit_bytes());
  start.set_agent_job_id(job.record.agent_job_id());
  if (job.info().hosts().size() == 1) return order;
  if (!parts_.issue)
    return failedPrecondition(
        "popdistd cannot make certificates for jobs with several hosts: give it an authority (--issuer)");
  POP_ASSIGN_OR_RETURN(*start.mutable_credentials(), parts_.issue(job.record));
  const Host* const other = parts_.hosts.find(job.info().hosts(1));
  start.set_agent_port(other == nullptr ? 0 : other->info().agent_port());
  return order;
}

void JobLives::runnerIsThere(Job& job) {
  happened(job, JobLifeEvent::kRunnerThere);  // or it was known
  follow(job);
  // The first stops it, the second kills it; more do no more.
  for (int number = std::max(1, job.record.cancels() - 1); number <= job.record.cancels(); ++number)
    stop(job, number);
}

void JobLives::refused(Job& job, const Status& why) {
  if (job.hasRun() || !job.hasRunner() || !job.record.lost_why().empty()) return;
  const std::string reason =
      "host " + job.host() + " could not start its runner: " + printable(why.message());
  if (job.record.cancels() > 0) return happened(job, JobLifeEvent::kRefused, job.record.cancel_reason());
  bool is_final = job.record.hosts_named();
  if (!is_final && !pauseStarts(job, why)) {
    job.record.add_refused_hosts(job.host());
    is_final = job.record.refused_hosts_size() >= kMaxRefusals;
  }
  happened(job, is_final ? JobLifeEvent::kCannotStart : JobLifeEvent::kRefused, reason);
}

// A host that is broken would refuse all that waits, one after the other: it is asked less and less. What it
// refuses is the job's fault only if it starts others meanwhile, or says so.
bool JobLives::pauseStarts(const Job& job, const Status& why) {
  Host* const host = parts_.hosts.find(job.host());
  if (host == nullptr) return false;
  StartPause& pause = host->pauses[job.info().user()];
  if (pause.refusals++ == 0) pause.began = parts_.loop.now();
  pause.why = bounded(printable(why.message()), kMostPauseWords);
  pause.until = parts_.loop.now() + pauseAfter(pause.refusals);
  pause_ends_ = std::min(pause_ends_.value_or(pause.until), pause.until);
  const bool is_well = host->started_runner && *host->started_runner >= pause.began;
  return isHostsFault(why.code()) && !is_well;
}

// ---- adoption

// The store is read again, and has forgotten what the streams have told since.
void JobLives::unfollowAll() {
  for (const std::int64_t id : parts_.jobs.active())
    parts_.links.unfollow(std::exchange(parts_.jobs.find(id)->live->events_stream, 0));
}

void JobLives::adopt() {
  proofs_.clear();
  const std::set<std::int64_t> active = parts_.jobs.active();
  for (const std::int64_t id : active) {
    Job& job = *parts_.jobs.find(id);
    job.live->start_is_sent = true;
    if (!job.record.lost_why().empty()) askForProof(job);
  }
  for (const std::int64_t id : parts_.pods.holders()) {
    const Job* const job = parts_.jobs.find(id);
    if (job != nullptr && job->state() == v1::JOB_ENDED && job->info().end() != v1::END_LOST)
      letPartitionGo(*job, "");
  }
  scheduleSoon();
}

void JobLives::hostJoined(Host& host, const std::vector<v1::HeldRunner>& runners,
                          std::int64_t first_unknown) {
  std::set<RunnerId> held;
  std::set<RunnerId> alive;
  for (const v1::HeldRunner& each : runners) {
    held.insert(idOf(each.key()));
    if (each.alive()) alive.insert(idOf(each.key()));
  }
  parts_.links.joined(host.info().name(), alive);
  orphans_.erase(host.info().name());
  for (const v1::HeldRunner& each : runners) {
    const std::int64_t id = each.key().job();
    id > 0 && id < first_unknown ? takeUp(host, each) : void(orphans_[host.info().name()].insert(id));
  }
  for (const std::int64_t id : parts_.pods.holders()) {
    const Job* const job = parts_.jobs.find(id);
    if (job != nullptr && !alive.contains(job->runner())) hostIsFree(host, job->runner());
  }
  const std::set<std::int64_t> active = parts_.jobs.active();
  for (const std::int64_t id : active) {
    Job& job = *parts_.jobs.find(id);
    if (job.host() == host.info().name() && !held.contains(job.runner())) missing(job);
  }
  scheduleSoon();
}

bool JobLives::isOrphan(std::int64_t id) const {
  return std::any_of(orphans_.begin(), orphans_.end(),
                     [id](const auto& each) { return each.second.contains(id); });
}

// The runner of an attempt that is over, or of a job that was forgotten meanwhile, is killed and removed.
void JobLives::takeUp(Host& host, const v1::HeldRunner& held) {
  Job* const job = parts_.jobs.find(held.key().job());
  const bool is_expected =
      job != nullptr && job->host() == host.info().name() && job->info().attempt() == held.key().attempt();
  if (job != nullptr && isClaimed(*job, host, held)) {
    job->live->claimed_by = host.info().name();
    return;
  }
  if (!is_expected) {
    if (held.alive()) kill(host, held.key());
    return remove(host.info().name(), held.key());
  }
  if (!job->hasRunner()) return dismiss(host, held);
  job->live->start_is_sent = true;
  if (held.alive() && job->info().has_started() && job->live->events_stream == 0) ++meters_.adopted;
  held.alive() ? runnerIsThere(*job) : follow(*job);
}

// A host that was given another name has the runners of its old name. It is not believed without a word,
// since any host could say so.
bool JobLives::isClaimed(const Job& job, const Host& host, const v1::HeldRunner& held) const {
  if (!job.hasRunner() || job.info().attempt() != held.key().attempt()) return false;
  const Host* const own = parts_.hosts.find(job.host());
  return job.host() != host.info().name() && (own == nullptr || own->channel == nullptr);
}

// The job has ended here: its runner waits to hear so, or still runs a job that counts as lost.
void JobLives::dismiss(Host& host, const v1::HeldRunner& held) {
  if (!held.alive()) return;
  const Job& job = *parts_.jobs.find(held.key().job());
  if (!job.info().has_outcome()) return kill(host, held.key());
  v1::RunnerOrder order;
  order.mutable_retire();
  parts_.links.order(host.info().name(), idOf(held.key()), std::move(order));
}

// The host has nothing of the job. One that counts as lost ends when its other hosts have proved that it is
// over there.
void JobLives::missing(Job& job) {
  if (!job.record.lost_why().empty()) return;
  if (!job.hasRun()) return happened(job, JobLifeEvent::kNotThere, job.record.cancel_reason());
  runnerLost(job, "host " + job.host() + " has nothing of it any more");
}

// ---- what hosts say

void JobLives::said(Host& host, v1::HostReport report) {
  const std::string& name = host.info().name();
  const auto jobOf = [&](const v1::RunnerKey& key) -> Job* {
    Job* const job = parts_.jobs.find(key.job());
    return isCurrent(job, key.attempt()) && job->host() == name ? job : nullptr;
  };
  switch (report.body_case()) {
    case v1::HostReport::kStarted: {
      v1::HeldRunner started;
      *started.mutable_key() = report.started().key();
      started.set_alive(true);
      if (!parts_.links.awaitsFeeder(name, idOf(started.key()))) takeUp(host, started);
      break;
    }
    case v1::HostReport::kRefused: {
      const RunnerId runner = idOf(report.refused().key());
      const Status why(static_cast<Code>(report.refused().code()), report.refused().why());
      const bool is_feeder = parts_.links.awaitsFeeder(name, runner);
      parts_.links.refused(name, runner, why);
      if (Job* const job = jobOf(report.refused().key());
          !is_feeder && job != nullptr && job->live != nullptr)
        refused(*job, why);
      break;
    }
    case v1::HostReport::kGone:
      parts_.links.gone(name, idOf(report.gone().key()));
      hostIsFree(host, idOf(report.gone().key()));
      break;
    case v1::HostReport::kSaid:
      if (!report.said().report().has_values()) {
        parts_.links.said(name, idOf(report.said().key()),
                          std::move(*report.mutable_said()->mutable_report()));
      } else if (Job* const job = jobOf(report.said().key()); job != nullptr && job->hasRunner()) {
        takeValues(*job, report.said().report().values());
      }
      break;
    case v1::HostReport::kHere:
      if (!report.here().runs()) proofs_.isFree(report.here().job(), name);
      break;
    default:
      break;
  }
}

void JobLives::save(Job& job) {
  parts_.jobs.changed(job);
  parts_.commits.wrote(parts_.store.putJob(job.record));
}

void JobLives::kill(Host& host, const v1::RunnerKey& key) {
  v1::HostOrder order;
  *order.mutable_kill() = key;
  host.channel->send(std::move(order));
}

void JobLives::forget(const Job& job) {
  if (!job.host().empty()) remove(job.host(), keyOf(job.runner()));
}

void JobLives::remove(const std::string& host, const v1::RunnerKey& key) {
  const Host* const found = parts_.hosts.find(host);
  if (found == nullptr || found->channel == nullptr) return;
  v1::HostOrder order;
  *order.mutable_remove() = key;
  found->channel->send(std::move(order));
}

bool JobLives::isCurrent(const Job* job, std::int32_t attempt) const {
  return job != nullptr && job->info().attempt() == attempt;
}

}  // namespace pop::popdistd
