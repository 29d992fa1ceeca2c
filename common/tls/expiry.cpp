// SPDX-License-Identifier: Apache-2.0
#include "common/tls/expiry.h"

#include <vector>

#include "common/tls/tls_objects.h"
#include "common/tls/validity.h"

namespace pop::tls {
namespace {

std::optional<std::time_t> firstEnd(const std::vector<openssl::Certificate>& certificates) {
  const openssl::Chain all(sk_X509_new_null());
  for (const openssl::Certificate& each : certificates) sk_X509_push(all.get(), each.get());
  const std::optional<openssl::Validity> validity = openssl::validityOf(all.get());
  return validity ? std::optional(validity->until) : std::nullopt;
}

}  // namespace

Expiry expiryOf(const TlsFiles& files) {
  if (files.objects == nullptr) return {};
  return {firstEnd(files.objects->authorities), firstEnd(files.objects->chain)};
}

}  // namespace pop::tls
