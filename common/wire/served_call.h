// SPDX-License-Identifier: Apache-2.0
// A job's conversation as the agent service has it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/wire/agent_call.h"

namespace pop::wire {

/// The agent's side of a call that came over the network. The thread of the loop alone.
class ServedCall : public RunCall {
 public:
  virtual std::string peerAddress() const = 0;  ///< numeric
  virtual std::string peerName() const = 0;     ///< the user of the client's certificate; empty without TLS
  /// By a TLS session that began with an earlier call.
  virtual bool isResumed() const = 0;

  /// send(), of the bytes of one that somebody else has made.
  virtual void relay(std::string_view report) = 0;

  /// From now on commands are not built, which can cost many times their size, but come as their bytes.
  virtual void relayCommands(std::function<void(std::string_view command)> to) = 0;

  /// Its user may run this job: from now on its messages may be long, and it may be silent for as long as it
  /// likes.
  virtual void trust() = 0;
};

}  // namespace pop::wire
