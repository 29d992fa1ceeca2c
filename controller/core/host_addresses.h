// SPDX-License-Identifier: Apache-2.0
// Finds hosts of a job with the same address, usually two names of one host.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"

namespace pop {

/// A warning for each address that several hosts share; `addresses[h]` is the address of `hosts[h]`.
std::vector<std::string> sharedAddressWarnings(const std::vector<model::Host>& hosts,
                                               const std::vector<std::string>& addresses);

}  // namespace pop
