// SPDX-License-Identifier: Apache-2.0
// The popdistd that is asked, and the program that asks it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::popctl {

struct Server {
  std::string address;               ///< "HOST:PORT", several "H0:PORT,H1:PORT", or "unix:PATH"
  std::optional<tls::TlsFiles> tls;  ///< the user's; missing: without TLS
  std::string token;                 ///< "pop_…"; empty: none
  std::string api_user_id;           ///< V-IPU's, with the next; empty: none
  std::string api_access_key;
  std::string program = "popctl";            ///< that asks, for messages
  std::string options = "--server, --tls";   ///< that name it, for errors
  std::string tls_option = "--tls DIR";      ///< that makes it TLS
  std::string timeout_option = "--timeout";  ///< likewise
  std::chrono::seconds reconnect{60};        ///< time for which a lost connection is tried again
};

/// True if the connection failed, and not the request.
inline bool isLost(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kCancelled;
}

/// The message, shown once, when a connection is lost.
inline std::string reconnectingText(const Server& server) {
  return server.program + ": lost the connection to " + server.address + ", reconnecting…\n";
}

}  // namespace pop::popctl
