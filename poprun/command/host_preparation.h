// SPDX-License-Identifier: Apache-2.0
// Prepares other hosts before a job starts: installs the user's ssh key and copies files. Shows its progress
// on stderr.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "poprun/bootstrap/ssh/ssh_options.h"

namespace pop {

/// Blocks. Returns the errors, each naming its host; empty: all of `hosts` (names for ssh) are ready.
std::vector<std::string> prepareHosts(const model::CopyRequest& copies, const std::vector<std::string>& hosts,
                                      const SshOptions& ssh);

}  // namespace pop
