// SPDX-License-Identifier: Apache-2.0
// The backends that this build has, besides the native one.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace pop::testing {

inline std::vector<std::string> backendsOfBuild() {
  std::istringstream words(BACKENDS);
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

}  // namespace pop::testing
