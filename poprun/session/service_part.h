// SPDX-License-Identifier: Apache-2.0
// Reaching hosts by the agent service: --agent-port, --agent-tls.
#pragma once

#include <cstddef>

#include "common/base/status.h"
#include "poprun/plan/options.h"
#include "poprun/session/hosts_controller.h"

namespace pop {

/// All of `num_hosts` hosts. Every mistake in the user's certificates is an error that names its file.
Result<ServicePart> servicePart(const HostsOptions& options, std::size_t num_hosts);

}  // namespace pop
