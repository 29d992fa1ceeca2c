// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/grpc_services.h"

#include <utility>

#include "popdistd/rpc/service_calls.h"
#include "proto/popdist/v1/pods.grpc.pb.h"

namespace pop::popdistd {
namespace {

class GrpcPods final : public v1::Pods::CallbackService, private ServiceCalls<PodsApi> {
 public:
  using ServiceCalls::ServiceCalls;

#define CALL(Name, member, Request, Answer, ...)                                           \
  Unary* Name(Context* context, const v1::Request* request, v1::Answer* answer) override { \
    return unary(context, request, answer, &PodsApi::member);                              \
  }
#include "proto/calls/pods.def"

  grpc::ServerWriteReactor<v1::HoldReply>* HoldPartition(Context* context,
                                                         const v1::HoldRequest* request) override {
    return stream(context, request, &PodsApi::holdPartition);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> makePodsService(std::shared_ptr<Calls> calls, PodsApi& pods,
                                               std::shared_ptr<const CallersOf> callers) {
  return std::make_unique<GrpcPods>(std::move(calls), pods, std::move(callers));
}

}  // namespace pop::popdistd
