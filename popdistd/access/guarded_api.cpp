// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/guarded_api.h"

#include "common/tls/certificates.h"
#include "popdistd/access/pass_call.h"

namespace pop::popdistd {

// By its number from then on: a newer job may take the name.
template <typename Request, typename T, typename JobOf>
void GuardedApi::passOfJob(std::string_view name, void (Api::*method)(const Caller&, Request, Reply<T>),
                           const Caller& caller, Request request, Reply<T> reply, JobOf job_of) {
  const Rule& rule = ruleOf(name);
  const std::string object = objectOf(request);
  const Result<Caller> now = guard_.today(caller);
  if (const Status may = now.ok() ? checkMay(now.value(), rule) : now.status(); !may.ok())
    return guard_.refuse(caller, rule, object, std::move(reply), may);
  const v1::JobRef ref = job_of(request);
  inner_.get(caller, ref,
             [this, caller = now.value(), &rule, object, method, job_of, request = std::move(request),
              reply = std::move(reply)](const Result<v1::JobInfo>& job) mutable {
               const Status may = job.ok()
                                      ? checkMayWithJob(caller, rule, job.value().id(), job.value().user())
                                      : job.status();
               if (!may.ok()) return guard_.refuse(caller, rule, object, std::move(reply), may);
               job_of(request).Clear();
               job_of(request).set_id(job.value().id());
               const std::string found = objectOf(request);
               guard_.call<T>(caller, rule, found, std::move(reply), [&](Reply<T> passed) {
                 (inner_.*method)(caller, std::move(request), std::move(passed));
               });
             });
}

// ---- jobs

// Its number is known only with the reply, which comes when all is on the disk.
void GuardedApi::submit(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply) {
  const std::string object = objectOf(request);
  std::int64_t before = 0;
  guard_.call<v1::SubmitReply>(
      caller, ruleOf("Submit"), object, std::move(reply),
      [&](Reply<v1::SubmitReply> passed) {
        before = newestJob(caller);
        inner_.submit(caller, std::move(request), std::move(passed));
      },
      [&] {
        const std::int64_t job = newestJob(caller);
        return job > before ? "job " + std::to_string(job) : object;
      });
}

std::int64_t GuardedApi::newestJob(const Caller& caller) {
  const auto newest = std::make_shared<std::int64_t>(0);
  v1::ListJobsRequest request;
  request.set_page_size(1);
  inner_.list(caller, std::move(request), [newest](const Result<v1::ListJobsReply>& list) {
    if (list.ok() && list.value().jobs_size() > 0) *newest = list.value().jobs(0).id();
  });
  return *newest;
}

void GuardedApi::get(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) {
  passCall(guard_, "Get", inner_, &Api::get, caller, std::move(job), std::move(reply));
}

void GuardedApi::list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply) {
  passCall(guard_, "List", inner_, &Api::list, caller, std::move(request), std::move(reply));
}

void GuardedApi::signal(const Caller& caller, v1::SignalRequest request, Reply<v1::JobInfo> reply) {
  passOfJob("Signal", &Api::signal, caller, std::move(request), std::move(reply),
            [](v1::SignalRequest& of) -> v1::JobRef& { return *of.mutable_job(); });
}

void GuardedApi::cancel(const Caller& caller, v1::CancelRequest request, Reply<v1::JobInfo> reply) {
  passOfJob("Cancel", &Api::cancel, caller, std::move(request), std::move(reply),
            [](v1::CancelRequest& of) -> v1::JobRef& { return *of.mutable_job(); });
}

void GuardedApi::hold(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) {
  passOfJob("Hold", &Api::hold, caller, std::move(job), std::move(reply),
            [](v1::JobRef& of) -> v1::JobRef& { return of; });
}

void GuardedApi::release(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) {
  passOfJob("Release", &Api::release, caller, std::move(job), std::move(reply),
            [](v1::JobRef& of) -> v1::JobRef& { return of; });
}

void GuardedApi::forget(const Caller& caller, v1::JobRef job, Reply<v1::Nothing> reply) {
  passOfJob("Forget", &Api::forget, caller, std::move(job), std::move(reply),
            [](v1::JobRef& of) -> v1::JobRef& { return of; });
}

Result<std::unique_ptr<Source<ShownChange>>> GuardedApi::watch(const Caller& caller,
                                                               const v1::WatchRequest& request, Ready ready) {
  return guard_.open<ShownChange>(caller, ruleOf("Watch"), "", ready,
                                  [&](Ready told) { return inner_.watch(caller, request, std::move(told)); });
}

Result<std::unique_ptr<Source<v1::Record>>> GuardedApi::logs(const Caller& caller,
                                                             const v1::LogsRequest& request, Ready ready) {
  const Rule& rule = ruleOf("Logs");
  Rule to_read_on = rule;
  const auto open = [&](Ready told) -> Result<std::unique_ptr<Source<v1::Record>>> {
    const auto job = std::make_shared<Result<v1::JobInfo>>(unavailable("it is not known whose the job is"));
    inner_.get(caller, request.job(), [job](Result<v1::JobInfo> found) { *job = std::move(found); });
    if (!job->ok()) return job->status();
    POP_RETURN_IF_ERROR(checkMayWithJob(caller, rule, (*job)->id(), (*job)->user()));
    if ((*job)->user() != caller.user) to_read_on.least = rule.others;
    v1::LogsRequest by_number = request;
    by_number.mutable_job()->Clear();
    by_number.mutable_job()->set_id((*job)->id());
    return inner_.logs(caller, by_number, std::move(told));
  };
  return guard_.open<v1::Record>(caller, rule, "", ready, open, &to_read_on);
}

void GuardedApi::countJobs(const Caller& caller, v1::Nothing nothing, Reply<v1::CountJobsReply> reply) {
  passCall(guard_, "CountJobs", inner_, &Api::countJobs, caller, std::move(nothing), std::move(reply));
}

// ---- quotas

void GuardedApi::setQuota(const Caller& caller, v1::QuotaInfo quota, Reply<v1::QuotaInfo> reply) {
  const bool is_users = quota.of().kind() == v1::QUOTA_USER && quota.of().name() != "*";
  const Status named = is_users ? tls::checkUserName(quota.of().name()) : Status();
  if (!named.ok() && checkMay(caller, ruleOf("SetQuota")).ok())
    return guard_.refuse(caller, ruleOf("SetQuota"), "quota", std::move(reply), named);
  passCall(guard_, "SetQuota", inner_, &Api::setQuota, caller, std::move(quota), std::move(reply));
}

void GuardedApi::removeQuota(const Caller& caller, v1::QuotaRef quota, Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveQuota", inner_, &Api::removeQuota, caller, std::move(quota), std::move(reply));
}

void GuardedApi::listQuotas(const Caller& caller, v1::ListQuotasRequest request,
                            Reply<v1::ListQuotasReply> reply) {
  passCall(guard_, "ListQuotas", inner_, &Api::listQuotas, caller, std::move(request), std::move(reply));
}

// ---- hosts

void GuardedApi::listHosts(const Caller& caller, v1::ListHostsRequest request,
                           Reply<v1::ListHostsReply> reply) {
  passCall(guard_, "ListHosts", inner_, &Api::listHosts, caller, std::move(request), std::move(reply));
}

void GuardedApi::getHost(const Caller& caller, v1::HostRef host, Reply<v1::HostInfo> reply) {
  passCall(guard_, "GetHost", inner_, &Api::getHost, caller, std::move(host), std::move(reply));
}

void GuardedApi::drain(const Caller& caller, v1::DrainRequest request, Reply<v1::HostInfo> reply) {
  passCall(guard_, "Drain", inner_, &Api::drain, caller, std::move(request), std::move(reply));
}

void GuardedApi::resume(const Caller& caller, v1::HostRef host, Reply<v1::HostInfo> reply) {
  passCall(guard_, "Resume", inner_, &Api::resume, caller, std::move(host), std::move(reply));
}

void GuardedApi::removeHost(const Caller& caller, v1::HostRef host, Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveHost", inner_, &Api::removeHost, caller, std::move(host), std::move(reply));
}

// ---- the daemon itself

void GuardedApi::about(const Caller& caller, v1::Nothing nothing, Reply<v1::AboutReply> reply) {
  passCall(guard_, "About", inner_, &Api::about, caller, std::move(nothing), std::move(reply));
}

void GuardedApi::checkStore(const Caller& caller, v1::Nothing nothing, Reply<v1::CheckStoreReply> reply) {
  passCall(guard_, "CheckStore", inner_, &Api::checkStore, caller, std::move(nothing), std::move(reply));
}

void GuardedApi::backup(const Caller& caller, v1::Nothing nothing, Reply<std::string> reply) {
  passCall(guard_, "Backup", inner_, &Api::backup, caller, std::move(nothing), std::move(reply));
}

}  // namespace pop::popdistd
