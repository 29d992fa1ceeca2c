// SPDX-License-Identifier: Apache-2.0
// PodsApi and VipuApi behind the guard.
#pragma once

#include "popdistd/access/guard.h"
#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"

namespace pop::popdistd {

class GuardedPods final : public PodsApi {
 public:
  /// Both outlive the object.
  GuardedPods(PodsApi& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override;
#include "proto/calls/pods.def"
  Result<std::unique_ptr<Source<v1::HoldReply>>> holdPartition(const Caller& caller,
                                                               const v1::HoldRequest& request,
                                                               Api::Ready ready) override;

  /// See Guard.
  void look() {
    guard_.look();
  }

 private:
  PodsApi& inner_;
  Guard guard_;
};

class GuardedVipu final : public VipuApi {
 public:
  /// Both outlive the object.
  GuardedVipu(VipuApi& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, virmgrpc::Request request, Reply<virmgrpc::Answer> reply) override;
#include "proto/calls/vipu.def"
  void getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                  Reply<virmgrpc::VersionReply> reply) override;

 private:
  VipuApi& inner_;
  Guard guard_;
};

}  // namespace pop::popdistd
