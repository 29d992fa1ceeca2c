// SPDX-License-Identifier: Apache-2.0
// Finds the program of a command.
#pragma once

#include <string>
#include <string_view>

namespace pop::keeper {

struct FoundProgram {
  std::string path;  ///< to execute in the program's working directory; the bare name if there is none
  int error = 0;     ///< of the best candidate, chosen as by execvp; 0: it was found
};

/// Looks `name` up in `search_path` (empty: the usual directories) as a shell does: a name with a slash is
/// the path itself, which is not looked at. `directory` is the program's working directory; empty: this
/// process's.
FoundProgram findProgram(const std::string& name, std::string_view search_path, const std::string& directory);

/// The same file, seen before the working directory has been entered.
std::string seenFromHere(const std::string& path, const std::string& directory);

/// True for names that are not looked up.
bool isPath(std::string_view name);

}  // namespace pop::keeper
