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
  return openssl::firstEndOf(all.get());
}

}  // namespace

Expiry expiryOf(const TlsFiles& files) {
  if (files.objects == nullptr) return {};
  return {firstEnd(files.objects->authorities), firstEnd(files.objects->chain)};
}

}  // namespace pop::tls
