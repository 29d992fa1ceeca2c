// SPDX-License-Identifier: Apache-2.0
// poprun from end to end: parse → plan → (print | run) → exit code.
#pragma once

#include <string>
#include <vector>

namespace pop {

/// `arguments` without the program's own name. Returns poprun's exit code.
int runApp(const std::vector<std::string>& arguments);

}  // namespace pop
