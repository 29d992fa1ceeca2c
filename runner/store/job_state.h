// SPDX-License-Identifier: Apache-2.0
// One job, as the files of its directory show it.
#pragma once

#include <optional>
#include <string>

#include "runner/store/job_directory.h"

namespace pop::runner {

/// The job `id` in the directory `root`; nothing: there is none, or it is not whole yet.
std::optional<JobEntry> lookAtJob(const std::string& root, int id);

}  // namespace pop::runner
