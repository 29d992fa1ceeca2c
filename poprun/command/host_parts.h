// SPDX-License-Identifier: Apache-2.0
// Who starts the agents of which hosts, as the options for hosts say it.
#pragma once

#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "popdistd/agents/hosts_controller.h"
#include "popdistd/agents/service_part.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Makes what starts the agents of which hosts, where the agent service does not: partsFor(). Null in a
/// program that reaches hosts by the service only.
using MakeParts = std::vector<BootstrapPart> (*)(os::EpollLoop& loop, const HostsOptions& options,
                                                 SshOptions ssh, const std::vector<model::Host>& hosts);

/// How the agent service is reached, as the options for hosts say it.
inline ServiceSettings serviceSettings(const HostsOptions& options) {
  return {.port = options.agent_port, .tls = options.agent_tls, .connect_timeout = options.connect_timeout};
}

/// The host of this process needs no SSH; all others do.
std::vector<BootstrapPart> partsFor(os::EpollLoop& loop, const HostsOptions& options, SshOptions ssh,
                                    const std::vector<model::Host>& hosts);

}  // namespace pop
