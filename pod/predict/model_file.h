// SPDX-License-Identifier: Apache-2.0
// A training as a file: "key = value" lines, with units; a comment begins with #.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "pod/predict/training.h"

namespace pop::pod::predict {

/// kInvalidArgument names `file`, the line, the key and what is wrong: a key that is unknown, twice there or
/// missing, a value without unit or out of range. Times that are left out may be learned.
Result<Training> parseModel(std::string_view text, std::string_view file);

/// The lines of a model file, each with its end. Times that are missing have none.
std::string modelText(const Training& training);

}  // namespace pop::pod::predict
