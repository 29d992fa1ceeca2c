// SPDX-License-Identifier: Apache-2.0
// What all TLS connections of a process have in common: versions, key exchanges, our certificate and whom we
// believe. Made once, since reading keys and certificates is most of what a connection would cost.
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/tls/session_cache.h"
#include "common/tls/tls_cipher.h"
#include "common/tls/tls_files.h"

namespace pop::tls {

/// How sessions are resumed, which spares both sides most of a handshake (docs/adr/0025).
struct TlsResumption {
  /// Of a client: those that it has, and what it is offered. None: every handshake is a full one.
  std::shared_ptr<SessionCache> kept;
  /// Of a server: by which its sessions end. Another one in tests.
  std::function<std::time_t()> now = [] { return std::time(nullptr); };
};

/// TLS 1.3, or 1.2 with an ephemeral key exchange and AEAD. The other side must show a certificate of the
/// same authority: a server one of a client, a client one of a server. Both speak the protocol
/// "popdist-agent/1" (ALPN), or end the connection: what was meant for another service never arrives.
class TlsContext {
 public:
  /// `role`: kServer or kClient.
  static Result<std::shared_ptr<const TlsContext>> make(const TlsFiles& files, TlsRole role,
                                                        TlsResumption resumption = {});
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// For a connection that a client has made.
  std::unique_ptr<TlsCipher> accepted() const;

  /// For a connection to `host`, a name or a numeric address, which its certificate has to name. `port`
  /// tells its sessions from those of other services there.
  std::unique_ptr<TlsCipher> connectedTo(const std::string& host, int port) const;

 private:
  struct Impl;
  explicit TlsContext(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;  ///< connections share it
};

}  // namespace pop::tls
