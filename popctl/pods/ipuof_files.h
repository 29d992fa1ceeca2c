// SPDX-License-Identifier: Apache-2.0
// The files by which programs find the IPUs of a partition, where V-IPU keeps them: ~/.ipuof.conf.d, one for
// each GCD. Blocking.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdistd/partitions/ipuof.h"

namespace pop::popctl {

/// ~/.ipuof.conf.d. kFailedPrecondition: HOME is not set.
Result<std::string> ipuofDirectory(const char* home);

/// One for each GCD, and no others of the partition. Each is written whole or not at all.
Status writeIpuofFiles(const std::string& directory, const std::string& partition,
                       const std::vector<vipu::GcdConfig>& gcds);

/// Those of the partition; fine if there are none.
Status removeIpuofFiles(const std::string& directory, const std::string& partition);

}  // namespace pop::popctl
