// SPDX-License-Identifier: Apache-2.0
// SHA-256 of some texts: of how they follow one another, not only of their bytes in a row.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace pop::tls {

inline constexpr std::size_t kDigestBytes = 32;

/// kDigestBytes.
std::string digestOf(std::initializer_list<std::string_view> texts);

}  // namespace pop::tls
