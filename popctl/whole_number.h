// SPDX-License-Identifier: Apache-2.0
// Checks of option values for CLI11, so that mistakes are said with the limits.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "common/base/text.h"

namespace pop::popctl {

inline CLI::Validator wholeNumber(std::int64_t least, std::int64_t most = std::numeric_limits<int>::max()) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        const Result<std::int64_t> number = parseInteger(text);
        if (number.ok() && number.value() >= least && number.value() <= most) return std::string();
        return inQuotes(text) + " is not a whole number from " + std::to_string(least) + " to " +
               std::to_string(most);
      },
      "");
}

/// Refuses an option in the place of a value that was forgotten, as in --name --attach.
inline CLI::Validator noOption() {
  return {[](const std::string& text) {
            return text.starts_with('-') ? inQuotes(text) + " is an option: the value is missing"
                                         : std::string();
          },
          ""};
}

/// Refuses what comes of a variable that is not set, as in --name "$NAME".
inline CLI::Validator notEmpty() {
  return {[](const std::string& text) { return std::string(text.empty() ? "the value is empty" : ""); }, ""};
}

}  // namespace pop::popctl
