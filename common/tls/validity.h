// SPDX-License-Identifier: Apache-2.0
// The dates between which certificates are valid. Included by this folder only.
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

/// The time in which all certificates of `chain` are valid. None: the chain is empty, or has a malformed
/// date.
std::optional<Validity> validityOf(const STACK_OF(X509) * chain);

}  // namespace pop::tls::openssl
