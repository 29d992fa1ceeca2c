// SPDX-License-Identifier: Apache-2.0
// One job's call to the agent of one host, over any carrier: commands one way, reports the other. Only on the
// loop's thread.
#pragma once

#include <functional>
#include <memory>

#include "common/base/status.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

/// The controller's side. Destroying it ends the call; no event follows.
class AgentCall {
 public:
  struct Events {
    std::function<void(v1::Report)> report;
    std::function<void(Status)> ended;  ///< once, after the last report; OK: the agent has ended the call
  };

  virtual ~AgentCall() = default;

  virtual void send(v1::Command command) = 0;
  virtual void close() = 0;  ///< no more commands: the agent ends the call when it is done
};

/// Begins a call.
using CallMaker = std::function<std::unique_ptr<AgentCall>(AgentCall::Events)>;

/// The agent's side.
class RunCall {
 public:
  struct Events {
    std::function<void(v1::Command)> command;
    std::function<void()> closed;  ///< once: no command comes any more; the controller is done, or gone
  };

  virtual ~RunCall() = default;

  /// Commands are queued until this is called.
  virtual void listen(Events events) = 0;
  virtual void send(v1::Report report) = 0;
  virtual void finish(Status status) = 0;  ///< after all that was sent
};

}  // namespace pop::wire
