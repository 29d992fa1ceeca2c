// SPDX-License-Identifier: Apache-2.0
// Matches host names against patterns as ssh does, in its configuration and in known hosts.
#pragma once

#include <string_view>

namespace pop {

/// Whether `name` matches `patterns`, separated by blanks or commas. '*' and '?' are wildcards; '!' before a
/// pattern negates it. Case-sensitive.
bool matchesSshPatterns(std::string_view name, std::string_view patterns);

}  // namespace pop
