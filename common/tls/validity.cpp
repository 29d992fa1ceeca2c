// SPDX-License-Identifier: Apache-2.0
#include "common/tls/validity.h"

#include <algorithm>

namespace pop::tls::openssl {
namespace {

std::optional<std::time_t> secondsOf(const ASN1_TIME* date) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(date, &parts) != 1) return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

std::optional<std::time_t> firstEndOf(const STACK_OF(X509) * chain) {
  std::optional<std::time_t> first;
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const std::optional<std::time_t> end = secondsOf(X509_get0_notAfter(sk_X509_value(chain, i)));
    if (!end) return std::nullopt;
    first = std::min(first.value_or(*end), *end);
  }
  return first;
}

}  // namespace pop::tls::openssl
