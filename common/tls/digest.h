// SPDX-License-Identifier: Apache-2.0
// SHA-256 of a list of texts, including the boundaries between them, and HMAC-SHA256.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace pop::tls {

inline constexpr std::size_t kDigestBytes = 32;

/// Returns kDigestBytes bytes.
std::string digestOf(std::initializer_list<std::string_view> texts);

/// HMAC-SHA256 of `text`: kDigestBytes bytes that only who has `key` can make.
std::string hmacOf(std::string_view key, std::string_view text);

/// In a time that does not tell how far they are equal.
bool areEqualDigests(std::string_view one, std::string_view other);

}  // namespace pop::tls
