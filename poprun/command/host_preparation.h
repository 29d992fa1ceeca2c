// SPDX-License-Identifier: Apache-2.0
// What other hosts are given before a job starts: the user's ssh key, files. Shows on stderr how far it is.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "poprun/bootstrap/ssh/ssh_options.h"

namespace pop {

/// Blocks. What went wrong, each naming its host; empty: all of `hosts`, as ssh is told, are ready.
std::vector<std::string> prepareHosts(const model::CopyRequest& copies, const std::vector<std::string>& hosts,
                                      const SshOptions& ssh);

}  // namespace pop
