// SPDX-License-Identifier: Apache-2.0
// Real certificates of an authority of the test's own, and what is made of them: both sides of mutual TLS.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/rpc/certificates.h"
#include "common/rpc/tls_context.h"

namespace pop::testing {

struct TestPairs {
  rpc::KeyPair authority = rpc::makeAuthority(10).value();

  std::shared_ptr<const rpc::TlsContext> server(const std::vector<std::string>& names = {"127.0.0.1",
                                                                                         "h0"}) const {
    return contextOf(rpc::makeHostCertificate(authority, names, 10).value(), rpc::TlsRole::kServer);
  }

  std::shared_ptr<const rpc::TlsContext> client(const std::string& user = "alice") const {
    return contextOf(rpc::makeUserCertificate(authority, user, 10).value(), rpc::TlsRole::kClient);
  }

  rpc::TlsFiles filesOf(const rpc::KeyPair& pair) const {
    return rpc::tlsFilesOf(authority.certificate_pem, pair.certificate_pem, pair.key_pem);
  }

  std::shared_ptr<const rpc::TlsContext> contextOf(const rpc::KeyPair& pair, rpc::TlsRole role,
                                                   rpc::TlsResumption resumption = {}) const {
    return rpc::TlsContext::make(filesOf(pair), role, std::move(resumption)).value();
  }
};

}  // namespace pop::testing
