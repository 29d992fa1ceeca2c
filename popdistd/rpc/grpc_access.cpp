// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_services.h"

#include <utility>

#include "popdistd/rpc/service_calls.h"
#include "proto/popdist/v1/access.grpc.pb.h"

namespace pop::popdistd {
namespace {

class GrpcAccess final : public v1::Access::CallbackService, private ServiceCalls<AccessApi> {
 public:
  using ServiceCalls::ServiceCalls;

#define CALL(Name, member, Request, Answer, ...)                                           \
  Unary* Name(Context* context, const v1::Request* request, v1::Answer* answer) override { \
    return unary(context, request, answer, &AccessApi::member);                            \
  }
#include "proto/calls/access.def"
};

}  // namespace

std::unique_ptr<grpc::Service> makeAccessService(std::shared_ptr<Calls> calls, AccessApi& access,
                                                 std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcAccess>(std::move(calls), access, std::move(callers));
}

}  // namespace pop::popdistd
