// SPDX-License-Identifier: Apache-2.0
// Parts of a request's target.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/status.h"

namespace pop::popdistd {

/// "a%20b" as "a b"; none: it is malformed.
std::optional<std::string> percentDecoded(const std::string& text);

/// The value of `name` in "a=1&b=2", decoded; none: it is not there.
std::optional<std::string> queryValue(const std::string& query, const std::string& name);

/// The same as a number that is not negative; `missing` where it is not there. kInvalidArgument names it.
Result<std::int64_t> queryNumber(const std::string& query, const std::string& name, std::int64_t missing);

}  // namespace pop::popdistd
