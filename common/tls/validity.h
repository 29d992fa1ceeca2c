// SPDX-License-Identifier: Apache-2.0
// The date until which certificates are valid. Included by this folder only.
#pragma once

#include <openssl/x509.h>

#include <ctime>
#include <optional>

namespace pop::tls::openssl {

/// When the first certificate of `chain` expires. None: the chain is empty, or has a malformed date.
std::optional<std::time_t> firstEndOf(const STACK_OF(X509) * chain);

}  // namespace pop::tls::openssl
