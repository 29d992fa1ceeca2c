// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/guarded_api.h"

#include "common/tls/certificates.h"
#include "popdistd/access/pass_call.h"

namespace pop::popdistd {
namespace {

v1::JobRef& jobOf(v1::JobRef& job) {
  return job;
}
template <typename Request>
v1::JobRef& jobOf(Request& request) {
  return *request.mutable_job();
}

}  // namespace

// By its number from then on: a newer job may take the name.
template <typename Request, typename T>
void GuardedApi::passOfJob(std::string_view name, void (Api::*method)(const Caller&, Request, Reply<T>),
                           const Caller& caller, Request request, Reply<T> reply) {
  const Rule& rule = ruleOf(name);
  const std::string object = objectOf(request);
  const Result<Caller> now = guard_.today(caller);
  if (const Status may = now.ok() ? checkMay(now.value(), rule) : now.status(); !may.ok())
    return guard_.refuse(caller, rule, object, std::move(reply), may);
  const v1::JobRef ref = jobOf(request);
  inner_.get(caller, ref,
             [this, caller = now.value(), &rule, object, method, request = std::move(request),
              reply = std::move(reply)](const Result<v1::JobInfo>& job) mutable {
               const Status may = job.ok()
                                      ? checkMayWithJob(caller, rule, job.value().id(), job.value().user())
                                      : job.status();
               if (!may.ok()) return guard_.refuse(caller, rule, object, std::move(reply), may);
               jobOf(request).Clear();
               jobOf(request).set_id(job.value().id());
               const std::string found = objectOf(request);
               guard_.call<T>(caller, rule, found, std::move(reply), [&](Reply<T> passed) {
                 (inner_.*method)(caller, std::move(request), std::move(passed));
               });
             });
}

// ---- those that need no more than the table says

#define GUARD_plain(Name, member) \
  passCall(guard_, #Name, inner_, &Api::member, caller, std::move(request), std::move(reply))
#define GUARD_ofJob(Name, member) passOfJob(#Name, &Api::member, caller, std::move(request), std::move(reply))
#define GUARD_apart(Name, member) member##Apart(caller, std::move(request), std::move(reply))
#define CALL(Name, member, Request, Answer, least, others, audit, guard)                        \
  void GuardedApi::member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) { \
    GUARD_##guard(Name, member);                                                                \
  }
#include "proto/calls/controller.def"
#undef GUARD_plain
#undef GUARD_ofJob
#undef GUARD_apart

// ---- those that stand apart

// The reply comes when all is on the disk, together with what is written down here.
void GuardedApi::submitApart(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply) {
  std::string object = objectOf(request);
  const auto taken = [&object](std::int64_t job) { object = "job " + std::to_string(job); };
  guard_.call<v1::SubmitReply>(caller, ruleOf("Submit"), object, std::move(reply),
                               [&](Reply<v1::SubmitReply> passed) {
                                 inner_.submitTelling(caller, std::move(request), std::move(passed), taken);
                               });
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

void GuardedApi::setQuotaApart(const Caller& caller, v1::QuotaInfo quota, Reply<v1::QuotaInfo> reply) {
  const bool is_users = quota.of().kind() == v1::QUOTA_USER && quota.of().name() != "*";
  const Status named = is_users ? tls::checkUserName(quota.of().name()) : Status();
  if (!named.ok() && checkMay(caller, ruleOf("SetQuota")).ok())
    return guard_.refuse(caller, ruleOf("SetQuota"), "quota", std::move(reply), named);
  passCall(guard_, "SetQuota", inner_, &Api::setQuota, caller, std::move(quota), std::move(reply));
}

void GuardedApi::backup(const Caller& caller, v1::Nothing nothing, Reply<std::string> reply) {
  passCall(guard_, "Backup", inner_, &Api::backup, caller, std::move(nothing), std::move(reply));
}

}  // namespace pop::popdistd
