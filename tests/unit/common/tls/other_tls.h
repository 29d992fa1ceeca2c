// SPDX-License-Identifier: Apache-2.0
// Clients and services of our authority's that do what our own have no knob for.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/tls/tls_context.h"
#include "common/tls/tls_objects.h"
#include "common/tls/tls_session.h"
#include "tests/testing/tls_side.h"

namespace pop::testing {

/// The protocol in the form of an offer: a length before the name.
inline std::string offeredProtocol() {
  return char(tls::kProtocolName.size()) + std::string(tls::kProtocolName);
}

inline tls::openssl::Context contextWith(const SSL_METHOD* method, const tls::TlsObjects& own) {
  tls::openssl::Context context(SSL_CTX_new(method));
  SSL_CTX_use_certificate(context.get(), own.chain.front().get());
  SSL_CTX_use_PrivateKey(context.get(), own.key.get());
  return context;
}

/// One side of a connection, in the role of its context.
class RawTls {
 public:
  explicit RawTls(SSL_CTX* context)
      : connection_(SSL_new(context)), arrived_(BIO_new(BIO_s_mem())), outgoing_(BIO_new(BIO_s_mem())) {
    SSL_set_bio(connection(), arrived_, outgoing_);
  }
  SSL* connection() const { return connection_.get(); }

  std::string answerTo(const std::string& bytes) const {
    BIO_write(arrived_, bytes.data(), static_cast<int>(bytes.size()));
    SSL_is_server(connection()) == 1 ? SSL_accept(connection()) : SSL_connect(connection());
    char* answer = nullptr;
    const long size = BIO_get_mem_data(outgoing_, &answer);
    std::string answered(answer, static_cast<std::size_t>(size));
    BIO_reset(outgoing_);
    return answered;
  }

  /// Takes what comes after the handshake, sessions among it.
  void read(const std::string& bytes) const {
    BIO_write(arrived_, bytes.data(), static_cast<int>(bytes.size()));
    char plain[64];
    while (SSL_read(connection(), plain, sizeof plain) > 0) {
    }
  }

 private:
  tls::openssl::Connection connection_;
  BIO* arrived_;   ///< the connection's
  BIO* outgoing_;  ///< the connection's
};

/// Speaks TLS 1.3, and asks for new keys as often as it is told to.
class RestlessClient {
 public:
  RestlessClient(const tls::TlsObjects& own, TlsSide& server)
      : context_(contextWith(TLS_client_method(), own)) {
    const std::string protocol = offeredProtocol();
    SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                            static_cast<unsigned int>(protocol.size()));
    client_.emplace(context_.get());
    for (int flight = 0; flight < 3; ++flight)
      server.take(client_->answerTo(std::exchange(server.outgoing, {})));
    EXPECT_TRUE(server.cipher->established()) << server.status.message();
  }

  std::string keyUpdate() const {
    EXPECT_EQ(SSL_key_update(client_->connection(), SSL_KEY_UPDATE_REQUESTED), 1);
    return client_->answerTo({});
  }

 private:
  tls::openssl::Context context_;
  std::optional<RawTls> client_;
};

/// Comes back with the session of its last connection, as clients of earlier versions do, by the version of
/// TLS `most` at most.
class ReturningClient {
 public:
  ReturningClient(const tls::TlsObjects& own, int most) : context_(contextWith(TLS_client_method(), own)) {
    SSL_CTX_set_max_proto_version(context_.get(), most);
    const std::string protocol = offeredProtocol();
    SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                            static_cast<unsigned int>(protocol.size()));
  }

  /// Connects to a service of OpenSSL's defaults, which gives sessions to every client.
  void visit(const tls::TlsObjects& service) {
    const tls::openssl::Context context = contextWith(TLS_server_method(), service);
    const RawTls server(context.get());
    const RawTls client(context_.get());
    std::string from_server;
    for (int flight = 0; flight < 4; ++flight) {
      from_server = server.answerTo(client.answerTo(from_server));
    }
    client.read(from_server);
    leave(client);
    EXPECT_EQ(SSL_SESSION_is_resumable(last_.get()), 1);
  }

  /// Connects to a service of ours and leaves. Returns whether it came back to its last session.
  bool comesBackTo(const tls::TlsContext& service) {
    const RawTls client(context_.get());
    if (last_) SSL_set_session(client.connection(), last_.get());
    TlsSide server{service.accepted(), {}, {}, {}};
    for (int flight = 0; flight < 4; ++flight)
      server.take(client.answerTo(std::exchange(server.outgoing, {})));
    EXPECT_TRUE(server.cipher->established()) << server.status.message();
    EXPECT_EQ(server.cipher->client().value().user, "alice");
    server.cipher->send("welcome", server.outgoing);
    client.read(std::exchange(server.outgoing, {}));
    leave(client);
    return SSL_session_reused(client.connection()) == 1;
  }

  /// True if it has been given something with which it could come back.
  bool hasSession() const { return SSL_SESSION_is_resumable(last_.get()) == 1; }

 private:
  using Session = std::unique_ptr<SSL_SESSION, tls::openssl::Freer<SSL_SESSION_free>>;

  void leave(const RawTls& client) {
    last_.reset(SSL_get1_session(client.connection()));
    SSL_set_shutdown(client.connection(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }

  tls::openssl::Context context_;
  Session last_;
};

}  // namespace pop::testing
