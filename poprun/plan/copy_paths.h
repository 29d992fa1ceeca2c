// SPDX-License-Identifier: Apache-2.0
// --synchronise and related options: which files of this host are copied to the other hosts of a job.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/job_builder.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Absolute paths of files and directories, in the order of the options, without duplicates and none inside
/// another. Adds errors to `mistakes`. VIRTUAL_ENV names the directory of the Python environment; the Poplar
/// SDK is the parent of the directory that POPLAR_SDK_ENABLED names.
std::vector<std::string> pathsToCopy(const Options& options, const Surroundings& here,
                                     std::vector<std::string>& mistakes);

}  // namespace pop
