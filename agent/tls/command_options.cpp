// SPDX-License-Identifier: Apache-2.0
#include "agent/tls/command_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "common/base/text.h"

namespace pop::agent {
namespace {

int complain(const CLI::App& app, const std::string& mistake) {
  const std::string name = app.get_name();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), mistake.c_str(), name.c_str());
  return 1;
}

}  // namespace

std::optional<int> parseCommand(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    std::vector<std::string> words(arguments);
    std::reverse(words.begin(), words.end());  // the order in which CLI11 wants a vector
    app.parse(std::move(words));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return std::fputs(app.help().c_str(), stdout) < 0 ? 1 : 0;
  } catch (const CLI::ExtrasError&) {  // which lists them from the last to the first
    return complain(app, "unexpected arguments: " + join(app.remaining(), " "));
  } catch (const CLI::Error& error) {
    return complain(app, error.what());
  }
}

}  // namespace pop::agent
