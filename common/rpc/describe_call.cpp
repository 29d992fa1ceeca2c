// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/describe_call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "common/rpc/grpc_status.h"
#include "proto/popdist/v1/agent.grpc.pb.h"

namespace pop::rpc {

void describeService(Loop& loop, const std::shared_ptr<grpc::Channel>& channel,
                     std::chrono::milliseconds patience,
                     std::function<void(Result<v1::HostDescription>)> done) {
  struct Call {
    std::unique_ptr<v1::Agent::Stub> stub;
    grpc::ClientContext context;
    v1::Nothing request;
    v1::HostDescription reply;
  };
  auto* const call = new Call;  // the loop's in the end: the last channel must not go on a thread of gRPC's
  call->stub = v1::Agent::NewStub(channel);
  call->context.set_deadline(std::chrono::system_clock::now() + patience);
  call->stub->async()->Describe(&call->context, &call->request, &call->reply,
                                [&loop, call, done = std::move(done)](const grpc::Status& status) {
                                  loop.post([owned = std::shared_ptr<Call>(call), done, status] {
                                    status.ok() ? done(std::move(owned->reply)) : done(fromGrpc(status));
                                  });
                                });
}

}  // namespace pop::rpc
