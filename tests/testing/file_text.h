// SPDX-License-Identifier: Apache-2.0
// A whole file as text.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace pop::testing {

/// Empty when there is none, or when it belongs to a process of /proc that has just gone: reading such a file
/// through iterators would throw.
inline std::string fileText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace pop::testing
