// SPDX-License-Identifier: Apache-2.0
// Serves the Agent wire: each Run call becomes an object on the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/sys/fd.h"
#include "proto/popdist/v1/agent.pb.h"

namespace grpc {
class ServerCredentials;
}

namespace pop::rpc {

namespace v1 = ::popdist::v1;

/// The agent's side of one Run call. The thread of the loop alone.
class RunCall {
 public:
  struct Events {
    std::function<void(v1::Command)> command;
    std::function<void()> closed;  ///< once: no command comes any more; the controller is done, or gone
  };

  virtual ~RunCall() = default;

  /// Before this, commands wait.
  virtual void listen(Events events) = 0;
  virtual void send(v1::Report report) = 0;
  virtual void finish(Status status) = 0;       ///< after all that was sent
  virtual std::string peerAddress() const = 0;  ///< numeric; empty over anything but TCP
  /// The user of the client's certificate; empty without TLS. An error: it is nobody's (a host's, say).
  virtual Result<std::string> peerName() const = 0;
};

class AgentServer {
 public:
  struct Handlers {
    std::function<void(std::shared_ptr<RunCall>)> run;
    /// `peer`: as RunCall::peerName.
    std::function<Result<v1::HostDescription>(const std::string& peer)> describe;
    std::function<Status(const std::string& peer, const v1::EndJobRequest&)> end_job;
  };

  /// `loop` outlives the server. Handlers are called on its thread.
  AgentServer(Loop& loop, Handlers handlers);
  ~AgentServer();  ///< breaks all calls, and waits until gRPC has let go of them

  /// Waits until the calls that have been finished are over, at most `patience`; breaks the others.
  void close(std::chrono::milliseconds patience);

  /// One connection, over a connected, non-blocking socket.
  void serveOver(sys::Fd stream);

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
