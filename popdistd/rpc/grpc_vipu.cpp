// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_services.h"

#include <utility>

#include "popdistd/rpc/service_calls.h"
#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"

namespace pop::popdistd {
namespace {

class GrpcVipuUser final : public virmgrpc::UserService::CallbackService, private ServiceCalls<VipuApi> {
 public:
  using ServiceCalls::ServiceCalls;

#define CALL(Name, member, Request, Answer, ...)                                                       \
  Unary* Name(Context* context, const virmgrpc::Request* request, virmgrpc::Answer* answer) override { \
    return unary(context, request, answer, &VipuApi::member);                                          \
  }
#include "proto/calls/vipu.def"
};

class GrpcVipuVersion final : public virmgrpc::VersionService::CallbackService,
                              private ServiceCalls<VipuApi> {
 public:
  using ServiceCalls::ServiceCalls;

  Unary* GetVersion(Context* c, const virmgrpc::VersionRequest* q, virmgrpc::VersionReply* a) override {
    return unary(c, q, a, &VipuApi::getVersion);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> makeVipuUserService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                   std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcVipuUser>(std::move(calls), vipu, std::move(callers));
}

std::unique_ptr<grpc::Service> makeVipuVersionService(std::shared_ptr<Calls> calls, VipuApi& vipu,
                                                      std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcVipuVersion>(std::move(calls), vipu, std::move(callers));
}

}  // namespace pop::popdistd
