// SPDX-License-Identifier: Apache-2.0
// From when until when certificates are valid. Included by this folder only.
#pragma once

#include <openssl/x509.h>

#include <ctime>
#include <optional>

namespace pop::tls::openssl {

struct Validity {
  std::time_t from = 0;
  std::time_t until = 0;

  bool holds(std::time_t now) const { return from <= now && now < until; }
};

/// When all certificates of `chain` are valid. None: there is none in it, or one with an odd date.
std::optional<Validity> validityOf(const STACK_OF(X509) * chain);

}  // namespace pop::tls::openssl
