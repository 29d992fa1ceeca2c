// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "poprun/command/command_line.h"

namespace pop {

/// Jobs on hosts that are reached over SSH or by their agent services, and detached jobs.
HostsHalf hostsOverSsh();

}  // namespace pop
