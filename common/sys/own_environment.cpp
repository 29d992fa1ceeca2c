// SPDX-License-Identifier: Apache-2.0
#include "common/sys/own_environment.h"

#include <unistd.h>

#include <string_view>

namespace pop::sys {

std::vector<std::pair<std::string, std::string>> ownEnvironment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace pop::sys
