// SPDX-License-Identifier: Apache-2.0
#include "common/tls/peer_chain.h"

#include <optional>
#include <vector>

#include "common/tls/tls_objects.h"
#include "common/tls/validity.h"

namespace pop::tls {

using namespace openssl;

Result<std::time_t> goodUntil(const std::string& chain_pem, const std::string& authority_pem) {
  const std::vector<Certificate> chain = certificatesIn(chain_pem);
  const std::vector<Certificate> authorities = certificatesIn(authority_pem);
  const Store store(X509_STORE_new());
  const StoreContext context(X509_STORE_CTX_new());
  const Chain others(sk_X509_new_null());
  if (chain.empty() || !store || !context || !others || !trust(store.get(), authorities))
    return failed("reading a certificate");
  for (const Certificate& each : chain) sk_X509_push(others.get(), each.get());
  if (X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), others.get()) != 1)
    return failed("checking a certificate");
  X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_NO_CHECK_TIME);
  const bool is_signed = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  const std::optional<std::time_t> end =
      is_signed ? firstEndOf(X509_STORE_CTX_get0_chain(context.get())) : std::nullopt;
  if (!end)
    return Status(Code::kPermissionDenied,
                  "no authority of today has signed the certificate of this connection");
  return *end;
}

}  // namespace pop::tls
