// SPDX-License-Identifier: Apache-2.0
// poprun's command line: the one function that fills the settings. PopRun's spelling: `--opt value` and
// `--opt=value`, booleans yes/no/on/off/true/false/1/0, `--` or the first other word starts the program.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/options.h"

namespace pop {

struct ParsedOptions {
  Options options;
  std::vector<std::string> mistakes;  ///< every one that was found, each naming its option
};

ParsedOptions parseOptions(const std::vector<std::string>& arguments);

/// The text of --help.
std::string helpText();

}  // namespace pop
