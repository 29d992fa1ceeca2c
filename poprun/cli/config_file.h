// SPDX-License-Identifier: Apache-2.0
// Configuration files: one `option = value` per line, in the spelling of the command line without the dashes.
// --import-config reads them, --export-config writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poprun/cli/assignments.h"
#include "poprun/cli/file_text.h"

namespace pop::cli {

struct ConfigFile {
  Assignments assignments;
  std::vector<std::string> mistakes;  ///< "file:line: cause", every one
  std::vector<std::string> warnings;
};

/// Parses `text`; messages use `name` for the file.
ConfigFile parseConfig(std::string_view text, const std::string& name);

/// Reads and parses the file at `path`. A file that cannot be read is a mistake.
ConfigFile readConfigFile(const std::string& path, const FileReader& read);

/// The text of a file that parseConfig reads back as the same options, except actions of this run such as
/// --help. Options with default values are comments.
std::string configText(const Options& options);

/// Writes `text` to `path` atomically. If the file exists: kAlreadyExists unless `overwrite`.
Status writeConfigFile(const std::string& path, const std::string& text, bool overwrite);

}  // namespace pop::cli
