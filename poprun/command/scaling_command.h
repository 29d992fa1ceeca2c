// SPDX-License-Identifier: Apache-2.0
// `poprun --scaling-report LOG`: what trainings cost, from the rows that they have written.
#pragma once

#include "poprun/cli/parse.h"

namespace pop {

/// Prints the report and returns poprun's exit code.
int scalingCommand(const cli::ParsedOptions& parsed);

}  // namespace pop
