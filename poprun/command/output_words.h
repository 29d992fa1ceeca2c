// SPDX-License-Identifier: Apache-2.0
// The options about what is shown of a job, as words: for a program that shows it in our place.
#pragma once

#include <string>
#include <vector>

#include "poprun/plan/settings.h"

namespace pop {

/// -v and the options about output that are not at their defaults, each a word.
std::vector<std::string> outputWords(const Options& options);

}  // namespace pop
