// SPDX-License-Identifier: Apache-2.0
// The option table as text for people and shells: --help, the reference page, the man page, and
// completion in bash, zsh and fish.
#pragma once

#include <string>

namespace pop::cli {

std::string helpText();

/// poprun simulate --help
std::string simulateHelpText();

/// docs/reference/poprun.md
std::string referencePage();

/// docs/man/poprun.1
std::string manPage();

/// completions/poprun.bash
std::string bashCompletion();

/// completions/poprun.zsh
std::string zshCompletion();

/// completions/poprun.fish
std::string fishCompletion();

}  // namespace pop::cli
