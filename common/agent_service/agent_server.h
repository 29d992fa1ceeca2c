// SPDX-License-Identifier: Apache-2.0
// Listens for the agent service and accepts its calls: jobs and questions.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "common/agent_service/limited_notes.h"
#include "common/agent_service/served_connection.h"
#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/os/tcp.h"
#include "common/tls/tls_context.h"

namespace pop::wire {

struct ServerLimits {
  /// Maximum number of untrusted connections. Beyond it, the oldest connection of the address with the most
  /// of them is closed: a handshake takes milliseconds.
  std::size_t max_unauthenticated = 256;
  ServedConnection::Limits connection;
};

/// Only on the loop's thread.
class AgentServer {
 public:
  struct Handlers {
    std::function<void(std::shared_ptr<ServedCall>)> run;
    std::function<Result<v1::HostDescription>(const Peer& peer)> describe;
    std::function<Status(const Peer& peer, const v1::EndJobRequest&)> end_job;
    std::function<void(const std::string& line)> note;  ///< for the log: refused clients, and why
  };

  /// `loop` outlives this server.
  AgentServer(os::EpollLoop& loop, Handlers handlers, ServerLimits limits = {});
  ~AgentServer();  ///< ends all connections; queued data has a second to be sent
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;

  /// From now on health checks of a listening server report that it does not serve.
  void sayStopping() { stopping_ = true; }

  /// Listens at `address`, a name or a number. `tls`: null for no TLS. Returns the port, for use after asking
  /// for port 0.
  Result<int> listenAt(const std::string& address, int port, std::shared_ptr<const tls::TlsContext> tls);

  /// Applies to new connections.
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
  LimitedNotes turned_away_;  ///< notes on refused connections of any client
  bool stopping_ = false;
};

}  // namespace pop::wire
