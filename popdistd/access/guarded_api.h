// SPDX-License-Identifier: Apache-2.0
// Api behind the guard.
#pragma once

#include "popdistd/access/guard.h"

namespace pop::popdistd {

class GuardedApi final : public Api {
 public:
  /// Both outlive the object.
  GuardedApi(Api& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

  void submit(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply) override;
  void get(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) override;
  void list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply) override;
  void signal(const Caller& caller, v1::SignalRequest request, Reply<v1::JobInfo> reply) override;
  void cancel(const Caller& caller, v1::CancelRequest request, Reply<v1::JobInfo> reply) override;
  void hold(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) override;
  void release(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) override;
  void forget(const Caller& caller, v1::JobRef job, Reply<v1::Nothing> reply) override;
  void countJobs(const Caller& caller, v1::Nothing, Reply<v1::CountJobsReply> reply) override;
  void setQuota(const Caller& caller, v1::QuotaInfo quota, Reply<v1::QuotaInfo> reply) override;
  void removeQuota(const Caller& caller, v1::QuotaRef quota, Reply<v1::Nothing> reply) override;
  void listQuotas(const Caller& caller, v1::ListQuotasRequest request,
                  Reply<v1::ListQuotasReply> reply) override;
  void listHosts(const Caller& caller, v1::ListHostsRequest request,
                 Reply<v1::ListHostsReply> reply) override;
  void getHost(const Caller& caller, v1::HostRef host, Reply<v1::HostInfo> reply) override;
  void drain(const Caller& caller, v1::DrainRequest request, Reply<v1::HostInfo> reply) override;
  void resume(const Caller& caller, v1::HostRef host, Reply<v1::HostInfo> reply) override;
  void removeHost(const Caller& caller, v1::HostRef host, Reply<v1::Nothing> reply) override;
  void about(const Caller& caller, v1::Nothing, Reply<v1::AboutReply> reply) override;
  void checkStore(const Caller& caller, v1::Nothing, Reply<v1::CheckStoreReply> reply) override;
  void backup(const Caller& caller, v1::Nothing, Reply<std::string> reply) override;
  Result<std::unique_ptr<Source<ShownChange>>> watch(const Caller& caller, const v1::WatchRequest& request,
                                                     Ready ready) override;
  Result<std::unique_ptr<Source<v1::Record>>> logs(const Caller& caller, const v1::LogsRequest& request,
                                                   Ready ready) override;

  /// See Guard.
  void look() { guard_.look(); }

 private:
  /// Of a call for one job, which `jobOf` finds in the request: once it is known whose it is.
  template <typename Request, typename T, typename JobOf>
  void passOfJob(std::string_view name, void (Api::*method)(const Caller&, Request, Reply<T>),
                 const Caller& caller, Request request, Reply<T> reply, JobOf job_of);
  /// The job with the highest number; 0: there is none.
  std::int64_t newestJob(const Caller& caller);

  Api& inner_;
  Guard guard_;
};

}  // namespace pop::popdistd
