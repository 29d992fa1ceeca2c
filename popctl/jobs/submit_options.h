// SPDX-License-Identifier: Apache-2.0
// The options of `popctl submit job`, which stand among poprun's, in any order, before the program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "popctl/command.h"

namespace CLI {
class App;
}

namespace pop::popctl {

void addSubmitOptions(CLI::App& app, SubmitOptions& submit);

struct SubmitWords {
  std::vector<std::string> popctls;
  std::vector<std::string> popruns;
};

/// Takes the options at the beginning of `words`, and returns the other words. Where both programs know an
/// option, it is popctl's.
std::span<const std::string> takeOptions(const CLI::App& app, std::span<const std::string> words,
                                         SubmitWords& taken);

}  // namespace pop::popctl
