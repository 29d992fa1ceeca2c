// SPDX-License-Identifier: Apache-2.0
// What clients can ask of the daemon, as one interface: gRPC and HTTP only carry it. Semantics:
// proto/popdist/v1/controller.proto. All of it is called on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "popdistd/api/caller.h"
#include "popdistd/api/shown_change.h"
#include "popdistd/api/source.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// Called once, on the loop's thread; possibly before the call that was given it returns.
template <typename T>
using Reply = std::function<void(Result<T>)>;

class Api {
 public:
  virtual ~Api() = default;

  virtual void submit(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply) = 0;
  virtual void get(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) = 0;
  virtual void list(const Caller& caller, v1::ListJobsRequest request, Reply<v1::ListJobsReply> reply) = 0;
  virtual void countJobs(const Caller& caller, v1::Nothing, Reply<v1::CountJobsReply> reply) = 0;
  virtual void signal(const Caller& caller, v1::SignalRequest request, Reply<v1::JobInfo> reply) = 0;
  virtual void cancel(const Caller& caller, v1::CancelRequest request, Reply<v1::JobInfo> reply) = 0;
  virtual void hold(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) = 0;
  virtual void release(const Caller& caller, v1::JobRef job, Reply<v1::JobInfo> reply) = 0;
  virtual void forget(const Caller& caller, v1::JobRef job, Reply<v1::Nothing> reply) = 0;

  virtual void listHosts(const Caller& caller, v1::ListHostsRequest request,
                         Reply<v1::ListHostsReply> reply) = 0;
  virtual void getHost(const Caller& caller, v1::HostRef host, Reply<v1::HostInfo> reply) = 0;
  virtual void drain(const Caller& caller, v1::DrainRequest request, Reply<v1::HostInfo> reply) = 0;
  virtual void resume(const Caller& caller, v1::HostRef host, Reply<v1::HostInfo> reply) = 0;
  virtual void removeHost(const Caller& caller, v1::HostRef host, Reply<v1::Nothing> reply) = 0;

  virtual void setQuota(const Caller& caller, v1::QuotaInfo quota, Reply<v1::QuotaInfo> reply) = 0;
  virtual void removeQuota(const Caller& caller, v1::QuotaRef quota, Reply<v1::Nothing> reply) = 0;
  virtual void listQuotas(const Caller& caller, v1::ListQuotasRequest request,
                          Reply<v1::ListQuotasReply> reply) = 0;

  virtual void about(const Caller& caller, v1::Nothing, Reply<v1::AboutReply> reply) = 0;
  virtual void checkStore(const Caller& caller, v1::Nothing, Reply<v1::CheckStoreReply> reply) = 0;
  /// The path of a temporary file with the copy, for the transport to send and remove.
  virtual void backup(const Caller& caller, v1::Nothing, Reply<std::string> reply) = 0;

  /// `ready`: see Source.
  using Ready = std::function<void()>;
  virtual Result<std::unique_ptr<Source<ShownChange>>> watch(const Caller& caller,
                                                             const v1::WatchRequest& request,
                                                             Ready ready) = 0;
  virtual Result<std::unique_ptr<Source<v1::Record>>> logs(const Caller& caller,
                                                           const v1::LogsRequest& request, Ready ready) = 0;
};

}  // namespace pop::popdistd
