// SPDX-License-Identifier: Apache-2.0
#include "common/tls/validity.h"

#include <algorithm>
#include <limits>

namespace pop::tls::openssl {
namespace {

std::optional<std::time_t> secondsOf(const ASN1_TIME* date) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(date, &parts) != 1) return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

std::optional<Validity> validityOf(const STACK_OF(X509) * chain) {
  Validity all{std::numeric_limits<std::time_t>::min(), std::numeric_limits<std::time_t>::max()};
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const X509* const certificate = sk_X509_value(chain, i);
    const std::optional<std::time_t> from = secondsOf(X509_get0_notBefore(certificate));
    const std::optional<std::time_t> until = secondsOf(X509_get0_notAfter(certificate));
    if (!from || !until) return std::nullopt;
    all = {std::max(all.from, *from), std::min(all.until, *until)};
  }
  return sk_X509_num(chain) > 0 ? std::optional(all) : std::nullopt;
}

}  // namespace pop::tls::openssl
