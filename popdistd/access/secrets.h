// SPDX-License-Identifier: Apache-2.0
// Tokens, keys and sessions: what they look like, how they come in a request, and what is kept of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pop::popdistd {

/// 64 random bits in hexadecimal digits, new ones each time (common/sys/random_name.h).
using RandomName = std::function<std::string()>;

/// 256 random bits in hexadecimal digits.
std::string makeSecret(const RandomName& random_name);

/// "pop_" and a secret.
std::string makeToken(const RandomName& random_name);
bool looksLikeToken(std::string_view text);

/// The digest that is kept in place of a secret.
std::string digestOfSecret(std::string_view secret);
/// The public id of a token; reveals nothing of the token.
std::string tokenId(std::string_view digest);

std::string inHexadecimal(std::string_view bytes);

/// The token in the value of the header "authorization"; nothing: it is not "Bearer pop_…".
std::optional<std::string> tokenOfAuthorization(std::string_view value);

}  // namespace pop::popdistd
