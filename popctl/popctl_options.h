// SPDX-License-Identifier: Apache-2.0
// popctl's command line, in V-IPU's grammar: popctl VERB NOUN [NAME] [options].
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "popctl/command.h"

namespace pop::popctl {

/// The exit code where there is nothing more to do: help was printed, or a mistake.
using ParsedCommand = std::variant<Command, int>;

ParsedCommand parseCommand(const std::vector<std::string>& arguments);

/// Words that shells complete: each command with its words and options.
struct CommandWords {
  std::string verb;
  std::vector<std::string> nouns;  ///< singular and plural; none: the verb stands alone
  std::vector<std::string> options;
  std::string description;
};
std::vector<CommandWords> commandWords();
/// Options that stand before the verb, or anywhere.
std::vector<std::string> commonOptionNames();

}  // namespace pop::popctl
