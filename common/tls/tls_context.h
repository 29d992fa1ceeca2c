// SPDX-License-Identifier: Apache-2.0
// The common part of a process's TLS connections: versions, key exchanges, our certificate, and the trusted
// authorities. Made once, since reading keys and certificates would be most of the cost of a connection.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/tls/tls_cipher.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

/// TLS 1.3, or 1.2 with an ephemeral key exchange and AEAD. Each side must show a certificate of the same
/// authority: a server one of a client, a client one of a server. Both must speak the protocol
/// "popdist-agent/1" (ALPN): messages for another service never arrive.
class TlsContext {
 public:
  /// `role`: kServer or kClient.
  static Result<std::shared_ptr<const TlsContext>> make(const TlsFiles& files, TlsRole role);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// For a connection from a client.
  std::unique_ptr<TlsCipher> accepted() const;

  /// For a connection to `host`, a name or a numeric address, which must be in its certificate.
  std::unique_ptr<TlsCipher> connectedTo(const std::string& host) const;

 private:
  struct Impl;
  explicit TlsContext(std::unique_ptr<const Impl> impl);
  const std::unique_ptr<const Impl> impl_;
};

}  // namespace pop::tls
