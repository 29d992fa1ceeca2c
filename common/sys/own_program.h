// SPDX-License-Identifier: Apache-2.0
// Paths of our own programs.
#pragma once

#include <string>

namespace pop::sys {

/// The path of our own program `name`: in PREFIX/libexec/poprun or PREFIX/bin, where this one is in either of
/// them (installed), else beside this one (built).
std::string ownProgram(const std::string& name);
/// The same for the program at `self`.
std::string programOf(const std::string& self, const std::string& name);

}  // namespace pop::sys
