// SPDX-License-Identifier: Apache-2.0
// The link to one remote agent, over gRPC: says hello, checks the answer, and carries the numbered messages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
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
  ~HostLink() override;

  /// The other side has `patience` to answer.
  void hello(rpc::v1::Hello hello, std::chrono::milliseconds patience);

  void send(NumberedCommand command) override;
  void close() override;

 private:
  void receive(const rpc::v1::Report& report);
  void welcome(const rpc::v1::Welcome& welcome);
  void ended(const Status& why);

  Loop& loop_;
  RemoteAgent& agent_;
  const std::function<void()> over_;
  bool welcomed_ = false;
  std::optional<TimerId> patience_;
  rpc::AgentCall call_;
};

}  // namespace pop
