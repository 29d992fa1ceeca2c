// SPDX-License-Identifier: Apache-2.0
// A job's call from the agent service's side.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/wire/agent_call.h"

namespace pop::wire {

/// Caller of an agent service.
struct Peer {
  std::string name;    ///< the user of the client's certificate; empty without TLS
  std::string job_id;  ///< of a job's certificate: the only job that it is good for; empty: a user's own
  std::vector<std::string> hosts;  ///< of a job's certificate: where it is good
};

/// The agent's side of a call that arrived over the network. Only on the loop's thread.
class ServedCall : public RunCall {
 public:
  virtual std::string peerAddress() const = 0;  ///< numeric
  virtual const Peer& peer() const = 0;

  /// The same as send(), for a message that is already encoded.
  virtual void relay(std::string_view report) = 0;

  /// From now on commands are delivered as bytes: decoding them can take many times their size.
  virtual void relayCommands(std::function<void(std::string_view command)> to) = 0;

  /// The user may run this job: from now on its messages may be long, and it may be silent for any time.
  virtual void trust() = 0;
};

}  // namespace pop::wire
