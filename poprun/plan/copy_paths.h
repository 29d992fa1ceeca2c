// SPDX-License-Identifier: Apache-2.0
// --synchronise and its kin: which files of this host the other hosts of a job are given.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/job_builder.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Absolute paths of files and directories, each once and none inside another, in the order of the options;
/// what is wrong with them is added to `mistakes`. The directory of the Python environment is where
/// VIRTUAL_ENV says, the Poplar SDK is around the directory that POPLAR_SDK_ENABLED names.
std::vector<std::string> pathsToCopy(const Options& options, const Surroundings& here,
                                     std::vector<std::string>& mistakes);

}  // namespace pop
