// SPDX-License-Identifier: Apache-2.0
#include "agent/command_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace pop::agent {

std::optional<int> parseCommand(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    std::vector<std::string> words(arguments);
    std::reverse(words.begin(), words.end());  // the order in which CLI11 wants a vector
    app.parse(std::move(words));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return std::fputs(app.help().c_str(), stdout) < 0 ? 1 : 0;
  } catch (const CLI::Error& error) {
    const std::string name = app.get_name();
    std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), error.what(), name.c_str());
    return 1;
  }
}

}  // namespace pop::agent
