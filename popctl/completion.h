// SPDX-License-Identifier: Apache-2.0
// Completions of popctl's verbs, nouns and options for shells.
#pragma once

#include <string>

namespace pop::popctl {

/// For "bash", "zsh" or "fish"; else empty.
std::string completionFor(const std::string& shell);

}  // namespace pop::popctl
