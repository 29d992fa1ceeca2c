// SPDX-License-Identifier: Apache-2.0
// How ssh compares names of hosts: in its configuration and in known hosts alike.
#pragma once

#include <string_view>

namespace pop {

/// Whether `name` is one of `patterns`: '*', '?', '!' before one that must not match; blank or comma between
/// them. Capitals matter.
bool matchesSshPatterns(std::string_view name, std::string_view patterns);

}  // namespace pop
