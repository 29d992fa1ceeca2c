// SPDX-License-Identifier: Apache-2.0
// At which of its addresses the host of poprun is reached by the job's other hosts: its own agent is the one
// that cannot know, since nobody connected to it over the network.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"

namespace pop {

/// `addresses[h]` is that of `hosts[h]`, as its agent says; empty: not known. Gives this host the one that
/// the kernel would use towards the first other host that has an address, if any; else it keeps its own.
void correctOwnAddress(const std::vector<model::Host>& hosts, std::vector<std::string>& addresses);

}  // namespace pop
