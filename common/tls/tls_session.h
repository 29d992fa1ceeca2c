// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects for TLS. Included by this folder only.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string_view>

#include "common/tls/openssl_handles.h"
#include "common/tls/tls_cipher.h"

namespace pop::tls {

/// The protocol inside TLS, as ALPN names it.
inline constexpr std::string_view kProtocolName = "popdist-agent/1";

namespace openssl {
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Freer<SSL_free>>;
}  // namespace openssl

struct TlsCipher::Session {
  openssl::Connection connection;
  BIO* arrived = nullptr;   ///< the connection's
  BIO* outgoing = nullptr;  ///< the connection's
  bool is_server = false;
  int key_updates = 0;  ///< of the other side
};

}  // namespace pop::tls
