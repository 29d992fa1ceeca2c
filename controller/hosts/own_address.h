// SPDX-License-Identifier: Apache-2.0
// Finds the address at which the job's other hosts reach the host of poprun. Its own agent cannot know it,
// since no connection to that agent crosses the network.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"

namespace pop {

/// `addresses[h]` is the address of `hosts[h]` as its agent reports it; empty: not known. Replaces this
/// host's address by the one that the kernel would use towards the first other host with a known address;
/// without such a host, nothing changes.
void correctOwnAddress(const std::vector<model::Host>& hosts, std::vector<std::string>& addresses);

}  // namespace pop
