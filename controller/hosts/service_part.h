// SPDX-License-Identifier: Apache-2.0
// Reaching hosts by the agent service: --agent-port, --agent-tls.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/tls/tls_files.h"
#include "controller/hosts/host_access.h"

namespace pop {

struct ServiceSettings {
  int port = 0;                            ///< port of the agent service on every host
  std::string tls;                         ///< directory with ca.pem and the user's pair; empty: without TLS
  std::optional<tls::TlsFiles> tls_files;  ///< instead of that directory
  std::chrono::milliseconds connect_timeout{10000};
};

/// Access to all of `num_hosts` hosts. Any mistake in the user's certificates is an error that names the
/// file.
Result<ServicePart> servicePart(const ServiceSettings& settings, std::size_t num_hosts);

}  // namespace pop
