// SPDX-License-Identifier: Apache-2.0
// poprun from end to end: parse → plan → (print | run) → exit code.
#pragma once

#include <string>
#include <vector>

namespace pop {

/// `name` is what poprun was called by: under mpirun's and horovodrun's names it takes their spelling.
/// Returns poprun's exit code.
int runApp(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace pop
