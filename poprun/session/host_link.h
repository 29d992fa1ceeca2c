// SPDX-License-Identifier: Apache-2.0
// The link to one remote agent, over gRPC: says hello, checks the answer, and carries the numbered messages.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/rpc/agent_call.h"
#include "popdistd/controller/remote_agent.h"

namespace pop {

class HostLink final : public AgentLink {
 public:
  /// `agent` outlives the link, and has it from the other side's answer on. `over`: once, when nothing more
  /// comes.
  HostLink(Loop& loop, std::shared_ptr<grpc::Channel> channel, RemoteAgent& agent,
           std::function<void()> over);

  void hello(rpc::v1::Hello hello);

  void send(NumberedCommand command) override;
  void close() override;

 private:
  void receive(const rpc::v1::Report& report);
  void welcome(const rpc::v1::Welcome& welcome);
  void ended(const Status& why);

  RemoteAgent& agent_;
  const std::function<void()> over_;
  bool welcomed_ = false;
  rpc::AgentCall call_;
};

}  // namespace pop
