// SPDX-License-Identifier: Apache-2.0
// Who starts the agents of which hosts, as the options for hosts say it.
#pragma once

#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "poprun/bootstrap/ssh_options.h"
#include "poprun/plan/options.h"
#include "poprun/session/hosts_controller.h"

namespace pop {

/// The host of this process needs no SSH; all others do.
std::vector<BootstrapPart> partsFor(os::EpollLoop& loop, const HostsOptions& options, SshOptions ssh,
                                    const std::vector<model::Host>& hosts);

}  // namespace pop
