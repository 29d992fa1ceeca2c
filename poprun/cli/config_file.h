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

/// `text`, read from the file that messages call `name`.
ConfigFile parseConfig(std::string_view text, const std::string& name);

/// The file at `path`; that it cannot be read is a mistake.
ConfigFile readConfigFile(const std::string& path, const FileReader& read);

/// A file that parseConfig reads back as the same options, but for those that only say what poprun is to do
/// now. What has its default is a comment.
std::string configText(const Options& options);

/// Writes `text` to `path`, all of it or nothing. kAlreadyExists unless `overwrite`.
Status writeConfigFile(const std::string& path, const std::string& text, bool overwrite);

}  // namespace pop::cli
