// SPDX-License-Identifier: Apache-2.0
#include "common/tls/peer_user.h"

#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "common/tls/certificates.h"
#include "common/tls/openssl_handles.h"

namespace pop::tls {
namespace {

using namespace openssl;

using AlternativeNames = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

std::vector<std::string> urisOf(X509* certificate) {
  const AlternativeNames names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> uris;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<std::size_t>(ASN1_STRING_length(uri)));
  }
  return uris;
}

}  // namespace

Result<std::string> userOf(X509* certificate) {
  if (certificate == nullptr) return Status(Code::kPermissionDenied, "the client sent no certificate");
  return userFromUris(urisOf(certificate));
}

bool isHosts(X509* certificate) {
  const std::uint32_t usage = X509_get_extended_key_usage(certificate);
  const bool is_for_servers = usage != UINT32_MAX && (usage & XKU_SSL_SERVER) != 0;
  return is_for_servers && !userOf(certificate).ok();
}

}  // namespace pop::tls
