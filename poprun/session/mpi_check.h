// SPDX-License-Identifier: Apache-2.0
// Looks whether the programs of a job have an MPI that poprun cannot make one world of.
#pragma once

#include <string>

#include "common/model/job_spec.h"

namespace pop {

/// A warning about the first such program of a job with several instances, found as an instance here would
/// find it; or empty. Reads a little of each program's file.
std::string checkMpi(const model::JobSpec& spec);

}  // namespace pop
