// SPDX-License-Identifier: Apache-2.0
// --dry-run: the whole plan of a job in words, without starting anything.
#pragma once

#include <string>

#include "common/model/job_spec.h"

namespace pop {

/// Who would run where and with which environment. Values that only a start decides (ports, job id,
/// directories) are named, not invented.
std::string explainPlan(const model::JobSpec& spec);

}  // namespace pop
