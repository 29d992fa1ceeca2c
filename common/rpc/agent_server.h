// SPDX-License-Identifier: Apache-2.0
// Serves the Agent wire: each Run call becomes an object on the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/rpc/agent_call.h"

namespace grpc {
class ServerCredentials;
}

namespace pop::rpc {

/// The agent's side of a call that came over the network. The thread of the loop alone.
class ServedCall : public RunCall {
 public:
  virtual std::string peerAddress() const = 0;  ///< numeric
  /// The user of the client's certificate; empty without TLS. An error: it is nobody's (a host's, say).
  virtual Result<std::string> peerName() const = 0;
};

class AgentServer {
 public:
  struct Handlers {
    std::function<void(std::shared_ptr<ServedCall>)> run;
    /// `peer`: as ServedCall::peerName.
    std::function<Result<v1::HostDescription>(const std::string& peer)> describe;
    std::function<Status(const std::string& peer, const v1::EndJobRequest&)> end_job;
  };

  /// `loop` outlives the server. Handlers are called on its thread.
  AgentServer(Loop& loop, Handlers handlers);
  ~AgentServer();  ///< breaks all calls, and waits until gRPC has let go of them

  /// Waits until the calls that have been finished are over, at most `patience`; breaks the others.
  void close(std::chrono::milliseconds patience);

  /// From now on who asks for the health of a server that listens is told that it does not serve.
  void sayStopping();

  /// Connections to `address` ("10.0.0.1:7571", "[::]:7571"). The port: of use where 0 was asked for. gRPC's
  /// health checks (grpc.health.v1) are answered there, too.
  Result<int> listenAt(const std::string& address,
                       const std::shared_ptr<grpc::ServerCredentials>& credentials);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::rpc
