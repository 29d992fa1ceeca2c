// SPDX-License-Identifier: Apache-2.0
// The settings for reaching hosts over SSH, from the options for hosts.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/plan/settings.h"

namespace pop {

Result<SshOptions> sshOptions(const HostsOptions& options);

/// The command line of ssh that is equivalent to the built-in SSH, without a host.
std::vector<std::string> remoteShell(const SshOptions& ssh);

}  // namespace pop
