// SPDX-License-Identifier: Apache-2.0
// `poprun simulate`: what a training would do on Pods that are not there.
#pragma once

#include <string>
#include <vector>

namespace pop {

/// `arguments` are those after the word simulate. Prints the report and returns poprun's exit code.
int simulateCommand(const std::vector<std::string>& arguments);

}  // namespace pop
