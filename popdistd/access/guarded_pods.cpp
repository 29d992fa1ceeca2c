// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/guarded_pods.h"

#include "popdistd/access/pass_call.h"

namespace pop::popdistd {

#define CALL(Name, member, Request, Answer, ...)                                                     \
  void GuardedPods::member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) {     \
    passCall(guard_, #Name, inner_, &PodsApi::member, caller, std::move(request), std::move(reply)); \
  }
#include "proto/calls/pods.def"

Result<std::unique_ptr<Source<v1::HoldReply>>> GuardedPods::holdPartition(const Caller& caller,
                                                                          const v1::HoldRequest& request,
                                                                          Api::Ready ready) {
  const auto open = [&](Api::Ready told) { return inner_.holdPartition(caller, request, std::move(told)); };
  return guard_.open<v1::HoldReply>(caller, ruleOf("HoldPartition"), objectOf(request), ready, open);
}

#define CALL(Name, member, Request, Answer, ...)                                                             \
  void GuardedVipu::member(const Caller& caller, virmgrpc::Request request, Reply<virmgrpc::Answer> reply) { \
    passCall(guard_, #Name, inner_, &VipuApi::member, caller, std::move(request), std::move(reply));         \
  }
#include "proto/calls/vipu.def"

void GuardedVipu::getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                             Reply<virmgrpc::VersionReply> reply) {
  passCall(guard_, "GetVersion", inner_, &VipuApi::getVersion, caller, std::move(request), std::move(reply));
}

}  // namespace pop::popdistd
