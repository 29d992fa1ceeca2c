// SPDX-License-Identifier: Apache-2.0
// Both sides of TLS, which say something to each other without a socket between them.
#pragma once

#include <string>
#include <utility>

#include "common/tls/tls_context.h"
#include "tests/testing/tls_side.h"

namespace pop::testing {

struct TlsConversation {
  TlsSide client;
  TlsSide server;

  TlsConversation(const tls::TlsContext& connecting, const tls::TlsContext& accepting,
                  const std::string& host = "h0")
      : client{connecting.connectedTo(host), {}, {}, {}}, server{accepting.accepted(), {}, {}, {}} {}

  /// Each says its part, and bytes are carried to and fro until there are none.
  void speak() {
    client.cipher->send("from the client", client.outgoing);
    server.cipher->send("from the server", server.outgoing);
    carry();
  }

  void carry() {
    while (!client.outgoing.empty() || !server.outgoing.empty()) {
      server.take(std::exchange(client.outgoing, {}));
      client.take(std::exchange(server.outgoing, {}));
    }
  }
};

}  // namespace pop::testing
