// SPDX-License-Identifier: Apache-2.0
// Reaching hosts by the agent service: --agent-port, --agent-tls.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "common/base/status.h"
#include "popdistd/agents/host_access.h"

namespace pop {

struct ServiceSettings {
  int port = 0;                            ///< port of the agent service on every host
  std::string tls;                         ///< directory with ca.pem and the user's pair; empty: without TLS
  std::string tls_option = "--agent-tls";  ///< what has named that directory, for errors
  bool keeps_sessions = true;              ///< of TLS, in a file of the user, for other jobs
  std::chrono::milliseconds connect_timeout{10000};
};

/// Access to all of `num_hosts` hosts. Any mistake in the user's certificates is an error that names the
/// file.
Result<ServicePart> servicePart(const ServiceSettings& settings, std::size_t num_hosts);

}  // namespace pop
