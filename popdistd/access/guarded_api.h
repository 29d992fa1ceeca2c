// SPDX-License-Identifier: Apache-2.0
// Api behind the guard.
#pragma once

#include "popdistd/access/guard.h"

namespace pop::popdistd {

class GuardedApi final : public Api {
 public:
  /// Both outlive the object.
  GuardedApi(NumberingApi& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override;
#include "proto/calls/controller.def"
  void backup(const Caller& caller, v1::Nothing, Reply<std::string> reply) override;
  Result<std::unique_ptr<Source<ShownChange>>> watch(const Caller& caller, const v1::WatchRequest& request,
                                                     Ready ready) override;
  Result<std::unique_ptr<Source<v1::Record>>> logs(const Caller& caller, const v1::LogsRequest& request,
                                                   Ready ready) override;

  /// See Guard.
  void look() {
    guard_.look();
  }

 private:
  /// Passes a call for one job, once the job's user is known.
  template <typename Request, typename T>
  void passOfJob(std::string_view name, void (Api::*method)(const Caller&, Request, Reply<T>),
                 const Caller& caller, Request request, Reply<T> reply);
  void submitApart(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply);
  void setQuotaApart(const Caller& caller, v1::QuotaInfo quota, Reply<v1::QuotaInfo> reply);

  NumberingApi& inner_;
  Guard guard_;
};

}  // namespace pop::popdistd
