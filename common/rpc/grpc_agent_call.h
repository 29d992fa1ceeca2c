// SPDX-License-Identifier: Apache-2.0
// The controller's side of a call to the agent service, over gRPC.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/base/loop.h"
#include "common/rpc/agent_call.h"

namespace grpc {
class Channel;
}

namespace pop::rpc {

class GrpcAgentCall final : public AgentCall {
 public:
  GrpcAgentCall(Loop& loop, std::shared_ptr<grpc::Channel> channel, Events events);
  ~GrpcAgentCall() override;  ///< waits until gRPC has let go of it
  GrpcAgentCall(const GrpcAgentCall&) = delete;
  GrpcAgentCall& operator=(const GrpcAgentCall&) = delete;

  void send(v1::Command command) override;
  void close() override;

 private:
  class Reactor;
  std::shared_ptr<Reactor> reactor_;
};

/// Ends a job of the agent service at the other end of `channel`, whose Run call was lost. `done`, on the
/// loop's thread, within `patience`.
void endJob(Loop& loop, const std::shared_ptr<grpc::Channel>& channel, v1::EndJobRequest request,
            std::chrono::milliseconds patience, std::function<void(Status)> done);

}  // namespace pop::rpc
