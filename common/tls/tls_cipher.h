// SPDX-License-Identifier: Apache-2.0
// One TLS connection as a transformation of bytes: no socket, no waiting. Whoever has the socket brings what
// has arrived and sends what comes out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/wire/stream_cipher.h"

namespace pop::tls {

class TlsCipher final : public wire::StreamCipher {
 public:
  /// OpenSSL's object, in its role and with what is expected of the other side; made by TlsContext.
  struct Session;
  explicit TlsCipher(std::unique_ptr<Session> session);
  ~TlsCipher() override;
  TlsCipher(const TlsCipher&) = delete;
  TlsCipher& operator=(const TlsCipher&) = delete;

  /// Errors are in words for who has made the connection (tls_errors.h), or, on a server, for its log.
  Status receive(std::string_view arrived, std::string& plain, std::string& wire) override;
  void send(std::string_view plain, std::string& wire) override;

  /// The handshake is done: the other side is who it has to be.
  bool established() const { return established_; }

  /// On a server, once established: the user of the client's certificate. An error: it is nobody's (a
  /// host's).
  Result<std::string> peerUser() const;

  /// Once established: this connection goes on with a session of an earlier one. Who the other side is was
  /// found out then.
  bool resumed() const;

  /// On a server, once established: what is sent next lets the client resume this session. Nothing on a
  /// connection that has resumed one: a session is not made longer by being used.
  void offerSession();

 private:
  Status shakeHands(std::string& wire);
  Status checkProtocol() const;
  Status decrypt(std::string& plain);
  void encrypt(std::string_view plain, std::string& wire);
  void takeOutgoing(std::string& wire);
  Status failure(int outcome) const;

  const std::unique_ptr<Session> session_;
  bool established_ = false;
  std::string waiting_;  ///< to be sent once established
};

}  // namespace pop::tls
