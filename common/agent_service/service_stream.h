// SPDX-License-Identifier: Apache-2.0
// A connection to an agent service: dials, shakes hands, sends the request, and carries the request's
// messages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/os/tcp.h"
#include "common/tls/tls_context.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

struct ServiceAddress {
  std::string host;  ///< a name or a numeric address, which its certificate has to name
  int port = 0;
  std::shared_ptr<const tls::TlsContext> tls;  ///< none: without TLS, on this host
  std::chrono::milliseconds timeout{10000};    ///< to connect
};

/// Only on the loop's thread. Destroying it closes the connection; no event follows.
class ServiceStream {
 public:
  struct Events {
    std::function<void(const std::string& message)> message;  ///< its bytes
    /// Called once, after the last message: with the service's final status, or with an error for the user if
    /// the service could not be reached (connect_errors.h, tls_errors.h). Never called from within the
    /// constructor.
    std::function<void(Status how)> ended;
  };

  ServiceStream(os::EpollLoop& loop, ServiceAddress address, const v1::ServiceRequest& request,
                Events events);
  ServiceStream(const ServiceStream&) = delete;
  ServiceStream& operator=(const ServiceStream&) = delete;

  /// May be called at once: messages are queued until they can be sent.
  void send(const google::protobuf::MessageLite& message);

  /// No more messages will be sent.
  void close();

 private:
  void dialled(os::Dialled outcome);
  void end(Status how);

  os::EpollLoop& loop_;
  const ServiceAddress address_;
  const Events events_;
  std::vector<std::string> waiting_;  ///< until there is a connection
  bool closed_ = false;
  std::optional<MessageStream> stream_;
  os::TcpDial dial_;
};

}  // namespace pop::wire
