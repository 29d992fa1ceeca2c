// SPDX-License-Identifier: Apache-2.0
#include "common/tls/digest.h"

#include <openssl/evp.h>

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

}  // namespace pop::tls
