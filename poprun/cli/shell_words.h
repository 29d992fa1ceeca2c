// SPDX-License-Identifier: Apache-2.0
// Splits and quotes words as a shell does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::cli {

/// Blanks separate; quotes and backslashes as in sh. Nothing is expanded. kInvalidArgument: an open quote.
Result<std::vector<std::string>> splitShell(std::string_view text);

/// A text that splitShell splits into `words` again.
std::string quoteShell(std::span<const std::string> words);

}  // namespace pop::cli
