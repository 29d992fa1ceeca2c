// SPDX-License-Identifier: Apache-2.0
// popctl from end to end: arguments to exit code.
#pragma once

#include <string>
#include <vector>

namespace pop::popctl {

/// `program`: the name under which it was called, vipu's for V-IPU's options.
int runApp(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace pop::popctl
