// SPDX-License-Identifier: Apache-2.0
// Real certificates of an authority of the test's own, and what is made of them: both sides of mutual TLS.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/tls/certificates.h"
#include "common/tls/tls_context.h"

namespace pop::testing {

struct TestPairs {
  tls::KeyPair authority = tls::makeAuthority(10).value();

  std::shared_ptr<const tls::TlsContext> server(const std::vector<std::string>& names = {"127.0.0.1",
                                                                                         "h0"}) const {
    return contextOf(tls::makeHostCertificate(authority, names, 10).value(), tls::TlsRole::kServer);
  }

  std::shared_ptr<const tls::TlsContext> client(const std::string& user = "alice") const {
    return contextOf(tls::makeUserCertificate(authority, user, 10).value(), tls::TlsRole::kClient);
  }

  tls::TlsFiles filesOf(const tls::KeyPair& pair) const {
    return tls::tlsFilesOf(authority.certificate_pem, pair.certificate_pem, pair.key_pem);
  }

  std::shared_ptr<const tls::TlsContext> contextOf(const tls::KeyPair& pair, tls::TlsRole role) const {
    return tls::TlsContext::make(filesOf(pair), role).value();
  }
};

}  // namespace pop::testing
