// SPDX-License-Identifier: Apache-2.0
// SHA-256 of a list of texts, including the boundaries between them.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace pop::tls {

inline constexpr std::size_t kDigestBytes = 32;

/// Returns kDigestBytes bytes.
std::string digestOf(std::initializer_list<std::string_view> texts);

}  // namespace pop::tls
