// SPDX-License-Identifier: Apache-2.0
// The calls of clients about jobs.
#include <utility>

#include "common/base/text.h"
#include "popdistd/jobs/daemon_core.h"
#include "popdistd/jobs/host_bounds.h"
#include "popdistd/jobs/job_request.h"
#include "popdistd/jobs/table/job_counts.h"

namespace pop::popdistd {
namespace {

constexpr int kMaxTroubled = 20;

}  // namespace

void DaemonCore::submit(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply) {
  submitTelling(caller, std::move(request), std::move(reply), [](std::int64_t) {});
}

void DaemonCore::submitTelling(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply,
                               const std::function<void(std::int64_t job)>& taken) {
  if (const Job* const known = jobs_.findRequest(requestKey(caller.user, request.request_id()));
      known != nullptr && !request.request_id().empty()) {
    if (known->record.request_digest() != requestDigest(request)) {
      return reply(Status(Code::kAlreadyExists, "the request id " + inQuotes(request.request_id()) +
                                                    " is that of job " + std::to_string(known->id()) +
                                                    ", which was submitted differently"));
    }
    taken(known->id());
    return replyWhenDurable(known->id(), [reply](Result<v1::JobInfo> job) {
      if (!job.ok()) return reply(job.status());
      v1::SubmitReply again;
      *again.mutable_job() = std::move(*job);
      again.set_repeated_request(true);
      reply(std::move(again));
    });
  }
  if (request.priority() > 0 && !manages(caller))
    return reply(
        Status(Code::kPermissionDenied,
               "priority is " + std::to_string(request.priority()) +
                   ": above 0 is for operators and admins, since it goes before the jobs of others"));
  Result<NewJob> made = newJob(request, caller.user, caller.role);
  if (!made.ok()) return reply(made.status());
  if (const Status checked = pods_.leases().check({next_job_id_, caller.user, caller.role, made->live->spec});
      !checked.ok())
    return reply(checked);
  Job wanted{std::move(made->record), std::move(made->live)};
  if (const Status allowed = mayWait(caller, wanted); !allowed.ok()) return reply(allowed);
  made->record = std::move(wanted.record);
  made->live = std::move(wanted.live);
  while (lives_.isOrphan(next_job_id_)) ++next_job_id_;
  if (next_job_id_ > kMostNumber)
    return reply(Status(Code::kResourceExhausted, "there are no more numbers for jobs in this store"));
  v1::JobInfo& info = *made->record.mutable_info();
  info.set_id(next_job_id_++);
  *info.mutable_submitted() = timestamp(settings_.clock());
  made->record.set_agent_job_id(settings_.random_name());
  commits_.wrote(store_.putMeta("next_job_id", std::to_string(next_job_id_)));
  Job& job = jobs_.add(std::move(made->record), std::move(made->live));
  if (const Status stored = lives_.submitted(job); !stored.ok()) {
    jobs_.remove(job.id());
    return reply(stored);
  }
  taken(job.id());
  replyWhenDurable(job.id(), [reply](Result<v1::JobInfo> durable) {
    if (!durable.ok()) return reply(durable.status());
    v1::SubmitReply submitted;
    *submitted.mutable_job() = std::move(*durable);
    reply(std::move(submitted));
  });
}

void DaemonCore::replyWhenDurable(std::int64_t id, Reply<v1::JobInfo> reply) {
  commits_.whenDurable([this, id, reply = std::move(reply)](const Status& status) {
    if (!status.ok()) return reply(status);
    const Job* const job = jobs_.find(id);
    if (job == nullptr) return reply(Status(Code::kNotFound, "job " + std::to_string(id) + " was forgotten"));
    reply(view(*job));
  });
}

Result<Job*> DaemonCore::controlled(const Caller& caller, const v1::JobRef& ref) {
  POP_ASSIGN_OR_RETURN(Job* const job, jobs_.find(ref, caller.user));
  if (job->info().user() == caller.user || manages(caller)) return job;
  return Status(Code::kPermissionDenied,
                "job " + std::to_string(job->id()) + " belongs to user " + inQuotes(job->info().user()));
}

void DaemonCore::get(const Caller& caller, v1::JobRef ref, Reply<v1::JobInfo> reply) {
  const Result<Job*> job = jobs_.find(ref, caller.user);
  job.ok() ? reply(view(*job.value(), sightOf(caller, *job.value()))) : reply(job.status());
}

void DaemonCore::list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply) {
  scans_.list(caller, std::move(request), std::move(reply));
}

void DaemonCore::countJobs(const Caller& caller, v1::Nothing, Reply<v1::CountJobsReply> reply) {
  v1::CountJobsReply counts = countOf(
      jobs_, [&](const Job& job) -> const std::string& { return reasonOf(job, sightOf(caller, job)); });
  for (const std::int64_t id : jobs_.active()) {
    if (counts.troubled_size() == kMaxTroubled) break;
    const Job& active = *jobs_.find(id);
    v1::JobInfo job = view(active, sightOf(caller, active));
    if (!job.conditions().empty()) *counts.add_troubled() = brief(std::move(job));
  }
  counts.set_revision(revisions_.current());
  reply(std::move(counts));
}

void DaemonCore::signal(const Caller& caller, v1::SignalRequest request, Reply<v1::JobInfo> reply) {
  const Result<Job*> job = controlled(caller, request.job());
  if (!job.ok()) return reply(job.status());
  if (request.signal() < 1 || request.signal() > 64)
    return reply(invalidArgument("signal is " + std::to_string(request.signal()) + ", not one of 1 to 64"));
  const Status passed = lives_.signal(*job.value(), request.signal());
  passed.ok() ? reply(view(*job.value())) : reply(passed);
}

void DaemonCore::cancel(const Caller& caller, v1::CancelRequest request, Reply<v1::JobInfo> reply) {
  const Result<Job*> job = controlled(caller, request.job());
  if (!job.ok()) return reply(job.status());
  const std::string why = request.reason().empty() ? "" : ": " + bounded(printable(request.reason()));
  lives_.cancel(*job.value(), "cancelled by " + caller.user + why);
  replyWhenDurable(job.value()->id(), std::move(reply));
}

void DaemonCore::hold(const Caller& caller, v1::JobRef ref, Reply<v1::JobInfo> reply) {
  const Result<Job*> job = controlled(caller, ref);
  if (!job.ok()) return reply(job.status());
  if (const Status held = lives_.hold(*job.value()); !held.ok()) return reply(held);
  replyWhenDurable(job.value()->id(), std::move(reply));
}

void DaemonCore::release(const Caller& caller, v1::JobRef ref, Reply<v1::JobInfo> reply) {
  const Result<Job*> job = controlled(caller, ref);
  if (!job.ok()) return reply(job.status());
  if (const Status released = lives_.release(*job.value()); !released.ok()) return reply(released);
  replyWhenDurable(job.value()->id(), std::move(reply));
}

void DaemonCore::forget(const Caller& caller, v1::JobRef ref, Reply<v1::Nothing> reply) {
  const Result<Job*> found = controlled(caller, ref);
  if (!found.ok()) return reply(found.status());
  if (const Status may = mayForget(*found.value()); !may.ok()) return reply(may);
  if (const Status removed = forgetNow(*found.value()); !removed.ok()) return reply(removed);
  commits_.whenDurable([reply](const Status& status) { status.ok() ? reply(v1::Nothing()) : reply(status); });
}

Status DaemonCore::mayForget(const Job& job) {
  if (job.state() != v1::JOB_ENDED)
    return failedPrecondition("job " + std::to_string(job.id()) + " has not ended: cancel it first");
  const std::string partition = pods_.leases().heldBy(job.id());
  if (partition.empty()) return {};
  return failedPrecondition("job " + std::to_string(job.id()) + " may still use partition " + partition +
                            " on host " + job.host() +
                            ": when that is heard of, or the partition is released with force, it can be "
                            "forgotten");
}

// Its host removes its records, too: now, or when it joins again.
Status DaemonCore::forgetNow(const Job& job) {
  POP_RETURN_IF_ERROR(commits_.tried(store_.removeJob(job.id())));
  lives_.forget(job);
  jobs_.remove(job.id());
  return {};
}

void DaemonCore::forgetOldJobs() {
  for (const std::int64_t id : retention_.due(jobs_, seen_.now())) {
    const Job* const job = jobs_.find(id);
    if (job != nullptr && mayForget(*job).ok()) static_cast<void>(forgetNow(*job));
  }
}

// Hides the place of another user's job if the caller may not use the job's allocation.
Sight DaemonCore::sightOf(const Caller& caller, const Job& job) const {
  if (job.info().user() == caller.user || manages(caller)) return Sight::kAll;
  const std::string& named = job.info().allocation();
  const std::string partition = job.live == nullptr ? job.info().partition() : job.live->spec.partition.name;
  const std::string allocation = named.empty() ? pods_.leases().allocationOf(partition) : named;
  const bool may = allocation.empty() || pods_.checkAllocation(caller, allocation).ok();
  return may ? Sight::kAll : Sight::kWithoutPlace;
}

const std::string& DaemonCore::reasonOf(const Job& job, Sight sight) const {
  static const std::string waits = "it waits for its allocation";
  static const std::string nothing;
  if (job.info().has_outcome() || sight == Sight::kAll) return lives_.reasonOf(job);
  return job.state() == v1::JOB_QUEUED ? waits : nothing;
}

v1::JobInfo DaemonCore::view(const Job& job, Sight sight) const {
  v1::JobInfo info = job.info();
  if (info.state() == v1::JOB_QUEUED) lives_.showAnswer(job, info);
  if (sight == Sight::kAll) return info;
  info.set_reason(reasonOf(job, sight));
  info.clear_partition();
  info.clear_allocation();
  return info;
}

}  // namespace pop::popdistd
