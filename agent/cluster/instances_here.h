// SPDX-License-Identifier: Apache-2.0
// Number of a job's instances on its first host, as limits count them.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop::agent {

/// `spec`: a JobSpec, encoded, with its hosts. kInvalidArgument: it is none.
Result<int> instancesOnFirstHost(const std::string& spec);

}  // namespace pop::agent
