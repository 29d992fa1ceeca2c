// SPDX-License-Identifier: Apache-2.0
// The table that popdist-algorithms prints, line by line.
#pragma once

#include <string>

#include "libpopdist/tools/algorithms/measure.h"

namespace popdist::algorithms {

/// The title and the column names.
std::string heading(const Context& context, const Contestants& contestants, int repeats);

/// "! allReduce   65536  private  staged  45.1    eager 30.2*, messages 80.4"
std::string inWords(const Row& row);

/// The choice takes over 10 % more than the fastest.
bool choiceIsSlow(const Row& row);

/// The number of such rows among all.
std::string verdict(int rows, int slow);

}  // namespace popdist::algorithms
