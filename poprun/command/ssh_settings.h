// SPDX-License-Identifier: Apache-2.0
// The settings for reaching hosts over SSH, from the options for hosts.
#pragma once

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/plan/settings.h"

namespace pop {

Result<SshOptions> sshOptions(const HostsOptions& options);

}  // namespace pop
