// SPDX-License-Identifier: Apache-2.0
// One Run call as the controller sees it: commands out, reports in, the end. The thread of the loop alone.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/sys/fd.h"
#include "proto/popdist/v1/agent.pb.h"

namespace grpc {
class Channel;
}

namespace pop::rpc {

namespace v1 = ::popdist::v1;

/// A channel over a connected, non-blocking socket that carries nothing else.
std::shared_ptr<grpc::Channel> channelOver(sys::Fd stream);

class AgentCall {
 public:
  struct Events {
    std::function<void(v1::Report)> report;
    std::function<void(Status)> ended;  ///< once, after the last report; OK: the agent has ended the call
  };

  AgentCall(Loop& loop, std::shared_ptr<grpc::Channel> channel, Events events);
  ~AgentCall();  ///< breaks the call and waits until gRPC has let go of it; no event comes any more
  AgentCall(const AgentCall&) = delete;
  AgentCall& operator=(const AgentCall&) = delete;

  void send(v1::Command command);
  void close();  ///< no more commands: the agent ends the call when it is done

 private:
  class Reactor;
  std::shared_ptr<Reactor> reactor_;
};

/// Ends a job of the agent service at the other end of `channel`, whose Run call was lost. `done`, on the
/// loop's thread, within `patience`.
void endJob(Loop& loop, const std::shared_ptr<grpc::Channel>& channel, v1::EndJobRequest request,
            std::chrono::milliseconds patience, std::function<void(Status)> done);

}  // namespace pop::rpc
