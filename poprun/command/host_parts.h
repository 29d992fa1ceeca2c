// SPDX-License-Identifier: Apache-2.0
// Selects who starts the agents of which hosts, by the options for hosts.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/os/epoll_loop.h"
#include "controller/hosts/service_part.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Makes the bootstrappers for hosts that are not reached through the agent service: partsFor(). Null in a
/// program that reaches hosts only through the service.
using MakeParts = std::vector<BootstrapPart> (*)(os::EpollLoop& loop, const HostsOptions& options,
                                                 SshOptions ssh, const std::vector<model::Host>& hosts);

/// Access to all of `num_hosts` hosts. Without the agent service the caller must add the bootstrappers.
inline Result<HostAccess> hostAccess(const HostsOptions& options, std::size_t num_hosts,
                                     std::function<void(const std::string& line)> say) {
  HostAccess access{.connect_timeout = options.connectTimeout(), .say = std::move(say)};
  if (options.agent_port == 0) return access;
  POP_ASSIGN_OR_RETURN(access.service, servicePart({.port = options.agent_port,
                                                    .tls = options.agent_tls,
                                                    .connect_timeout = options.connectTimeout()},
                                                   num_hosts));
  return access;
}

/// The host of this process needs no SSH; all others do.
std::vector<BootstrapPart> partsFor(os::EpollLoop& loop, const HostsOptions& options, SshOptions ssh,
                                    const std::vector<model::Host>& hosts);

}  // namespace pop
