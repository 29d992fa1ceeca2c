// SPDX-License-Identifier: Apache-2.0
// Listens for the agent service, and brings what comes to it: calls of jobs, and questions.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/os/tcp.h"
#include "common/service/served_connection.h"
#include "common/tls/tls_context.h"

namespace pop::wire {

struct ServerLimits {
  /// Connections whose users are not trusted yet. Of more, the oldest of the address that has most of them
  /// goes: a handshake takes milliseconds.
  std::size_t max_unauthenticated = 256;
  ServedConnection::Limits connection;
};

/// The thread of the loop alone.
class AgentServer {
 public:
  struct Handlers {
    std::function<void(std::shared_ptr<ServedCall>)> run;
    /// `peer`: as ServedCall::peerName.
    std::function<Result<v1::HostDescription>(const std::string& peer)> describe;
    std::function<Status(const std::string& peer, const v1::EndJobRequest&)> end_job;
    std::function<void(const std::string& line)> note;  ///< for the log: who was turned away, and why
  };

  /// `loop` outlives the server.
  AgentServer(os::EpollLoop& loop, Handlers handlers, ServerLimits limits = {});
  ~AgentServer();  ///< ends all connections; what was sent before has a second to go
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;

  /// From now on who asks for the health of a server that listens is told that it does not serve.
  void sayStopping() { stopping_ = true; }

  /// Connections to `address`, a name or a number. `tls`: none without TLS. The port: of use where 0 was
  /// asked for.
  Result<int> listenAt(const std::string& address, int port, std::shared_ptr<const tls::TlsContext> tls);

  /// For connections to come.
  void setTls(std::shared_ptr<const tls::TlsContext> tls) { tls_ = std::move(tls); }

 private:
  using Connections = std::list<std::shared_ptr<ServedConnection>>;

  void welcome();
  void pause(int error_number);
  void open(os::AcceptedConnection pending);
  void serve(const std::shared_ptr<ServedConnection>& connection, const v1::ServiceRequest& request);
  void finish(ServedConnection& connection, const Status& answer);
  void note(const ServedConnection& connection, const Status& why);
  void over(Connections::iterator connection, const Status& why);
  void limitUnauthenticated();

  os::EpollLoop& loop_;
  const Handlers handlers_;
  const ServerLimits limits_;
  std::shared_ptr<const tls::TlsContext> tls_;
  os::Listener listener_;
  std::optional<TimerId> pause_;
  bool short_of_means_ = false;                                                ///< and has said so
  Connections connections_;                                                    ///< the oldest first
  const std::shared_ptr<Connections> gone_ = std::make_shared<Connections>();  ///< soon to be destroyed
  bool stopping_ = false;
};

}  // namespace pop::wire
