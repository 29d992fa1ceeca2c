// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/secrets.h"

#include <algorithm>

#include "common/base/text.h"
#include "common/tls/digest.h"

namespace pop::popdistd {
namespace {

constexpr std::string_view kPrefix = "pop_";
constexpr std::size_t kSecretDigits = 64;
constexpr std::size_t kIdBytes = 6;

}  // namespace

std::string makeSecret(const RandomName& random_name) {
  std::string secret;
  while (secret.size() < kSecretDigits) secret += random_name();
  return secret.substr(0, kSecretDigits);
}

std::string makeToken(const RandomName& random_name) {
  return std::string(kPrefix) + makeSecret(random_name);
}

bool looksLikeToken(std::string_view text) {
  if (text.size() != kPrefix.size() + kSecretDigits || !text.starts_with(kPrefix)) return false;
  return std::all_of(text.begin() + kPrefix.size(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string digestOfSecret(std::string_view secret) {
  return tls::digestOf({secret});
}

std::string tokenId(std::string_view digest) {
  return inHexadecimal(digest.substr(0, kIdBytes));
}

std::string inHexadecimal(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

std::optional<std::string> tokenOfAuthorization(std::string_view value) {
  const std::string_view text = trimmed(value);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || lowerCase(std::string(text.substr(0, blank))) != "bearer")
    return std::nullopt;
  const std::string_view token = trimmed(text.substr(blank));
  if (!looksLikeToken(token)) return std::nullopt;
  return std::string(token);
}

}  // namespace pop::popdistd
