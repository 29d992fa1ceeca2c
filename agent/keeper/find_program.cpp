// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/text.h"

namespace pop::keeper {

bool isPath(std::string_view name) {
  return name.find('/') != std::string_view::npos;
}

std::string seenFromHere(const std::string& path, const std::string& directory) {
  return path.front() == '/' || directory.empty() ? path : directory + '/' + path;
}

FoundProgram findProgram(const std::string& name, std::string_view search_path,
                         const std::string& directory) {
  if (isPath(name)) return {name, 0};
  if (search_path.empty()) search_path = "/usr/local/bin:/usr/bin:/bin";
  FoundProgram best{name, ENOENT};
  for (const std::string& each : split(search_path, ':')) {
    const std::string candidate = (each.empty() ? "." : each) + '/' + name;
    const std::string here = seenFromHere(candidate, directory);
    struct stat info {};
    if (::stat(here.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (::access(here.c_str(), X_OK) == 0) return {candidate, 0};
    best = {candidate, EACCES};
  }
  return best;
}

}  // namespace pop::keeper
