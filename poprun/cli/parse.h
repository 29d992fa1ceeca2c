// SPDX-License-Identifier: Apache-2.0
// poprun's command line: the one function that fills the settings. PopRun's spelling: `--opt value` and
// `--opt=value`, `--` or the first other word starts the program, a word ':' the next one. mpirun's and
// horovodrun's spellings are understood too, and are the first choice under those names.
#pragma once

#include <string>
#include <vector>

#include "poprun/cli/compat_table.h"
#include "poprun/cli/file_text.h"
#include "poprun/plan/settings.h"

namespace pop::cli {

struct ParsedOptions {
  Options options;
  std::vector<std::string> mistakes;  ///< every one that was found, each naming its option
  std::vector<std::string> warnings;
  std::string program_hint;     ///< where the program may not be what was meant; or empty
  std::string without_program;  ///< what may have become of the program, where there is none; or empty
};

/// Takes the options of the file of --import-config, too, as `read` gives it.
ParsedOptions parseOptions(const std::vector<std::string>& arguments, Spelling spelling = Spelling::kPoprun,
                           const FileReader& read = readFileText);

}  // namespace pop::cli
