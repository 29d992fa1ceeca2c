// SPDX-License-Identifier: Apache-2.0
// How hosts are reached over SSH, as the options for hosts say it.
#pragma once

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_options.h"
#include "poprun/plan/settings.h"

namespace pop {

Result<SshOptions> sshOptions(const HostsOptions& options);

}  // namespace pop
