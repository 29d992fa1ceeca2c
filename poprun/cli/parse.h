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
  std::vector<std::string> mistakes;  ///< all mistakes, each naming its option
  std::vector<std::string> warnings;
  std::string program_hint;     ///< a hint that the program may not be what the user meant; or empty
  std::string without_program;  ///< why the program may be missing; or empty
};

/// Also reads the options in the file of --import-config, which `read` returns.
ParsedOptions parseOptions(const std::vector<std::string>& arguments, Spelling spelling = Spelling::kPoprun,
                           const FileReader& read = readFileText);

}  // namespace pop::cli
