// SPDX-License-Identifier: Apache-2.0
// One TLS connection as a transformation of bytes: no socket, no waiting. The owner of the socket passes in
// received bytes and sends the output.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/base/stream_cipher.h"
#include "common/tls/certificates.h"

namespace pop::tls {

class TlsCipher final : public StreamCipher {
 public:
  /// OpenSSL's object, with its role and its checks of the peer; made by TlsContext.
  struct Session;
  explicit TlsCipher(std::unique_ptr<Session> session);
  ~TlsCipher() override;
  TlsCipher(const TlsCipher&) = delete;
  TlsCipher& operator=(const TlsCipher&) = delete;

  /// Errors are texts for the client's user (tls_errors.h) or, on a server, for its log.
  Status receive(std::string_view arrived, std::string& plain, std::string& wire) override;
  void send(std::string_view plain, std::string& wire) override;

  /// True after the handshake: the peer is authenticated.
  bool established() const { return established_; }

  /// On a server, once established: whose the client's certificate is. Error: it is a host's.
  Result<Client> client() const;

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
