// SPDX-License-Identifier: Apache-2.0
// The contents of TLS files as OpenSSL's objects. Included by this folder only.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/tls/openssl_handles.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

struct TlsObjects {
  std::vector<openssl::Certificate> authorities;  ///< each is believed
  std::vector<openssl::Certificate> chain;        ///< ours, and those between it and an authority
  openssl::Key key;
};

/// All certificates in `pem`, in order.
inline std::vector<openssl::Certificate> certificatesIn(const std::string& pem) {
  const openssl::Bio bio = openssl::reading(pem);
  std::vector<openssl::Certificate> all;
  while (openssl::Certificate certificate = openssl::nextCertificate(bio))
    all.push_back(std::move(certificate));
  return all;
}

/// Makes `store` trust each of `authorities`; false on failure, or if there are none.
inline bool trust(X509_STORE* store, const std::vector<openssl::Certificate>& authorities) {
  return !authorities.empty() &&
         std::all_of(authorities.begin(), authorities.end(),
                     [store](const auto& each) { return X509_STORE_add_cert(store, each.get()) == 1; });
}

}  // namespace pop::tls
