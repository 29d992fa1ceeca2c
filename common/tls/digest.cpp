// SPDX-License-Identifier: Apache-2.0
#include "common/tls/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/base/check.h"

namespace pop::tls {

std::string digestOf(std::initializer_list<std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) {
    all += std::to_string(text.size());
    all += ':';
    all += text;
  }
  std::string digest(kDigestBytes, '\0');
  POP_CHECK(EVP_Digest(all.data(), all.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
                       EVP_sha256(), nullptr) == 1);
  return digest;
}

std::string hmacOf(std::string_view key, std::string_view text) {
  std::string digest(kDigestBytes, '\0');
  POP_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                 reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                 reinterpret_cast<unsigned char*>(digest.data()), nullptr) != nullptr);
  return digest;
}

bool areEqualDigests(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace pop::tls
