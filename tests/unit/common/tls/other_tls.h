// SPDX-License-Identifier: Apache-2.0
// Clients and services of our authority's that do what our own have no knob for.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "common/tls/tls_context.h"
#include "common/tls/tls_objects.h"
#include "common/tls/tls_session.h"
#include "tests/testing/tls_side.h"

namespace pop::testing {

inline constexpr std::time_t kDay = 24L * 3600;

/// As offered: a length before the name.
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

/// Speaks TLS 1.2.
class OlderClient {
 public:
  explicit OlderClient(const tls::TlsObjects& own) : context_(contextWith(TLS_client_method(), own)) {
    SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION);
    const std::string protocol = offeredProtocol();
    SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                            static_cast<unsigned int>(protocol.size()));
  }

  /// Connects, is trusted, and leaves; whether it came back to its last session.
  bool comesBackTo(const tls::TlsContext& service) {
    const RawTls client(context_.get());
    if (last_) SSL_set_session(client.connection(), last_.get());
    TlsSide server{service.accepted(), {}, {}, {}};
    for (int flight = 0; flight < 4; ++flight)
      server.take(client.answerTo(std::exchange(server.outgoing, {})));
    EXPECT_TRUE(server.cipher->established()) << server.status.message();
    server.cipher->offerSession();
    last_.reset(SSL_get1_session(client.connection()));
    SSL_set_shutdown(client.connection(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    return SSL_session_reused(client.connection()) == 1;
  }

 private:
  tls::openssl::Context context_;
  tls::openssl::TlsSession last_;
};

/// A service at h0:1 of which only the context differs from one of ours.
class OtherService {
 public:
  explicit OtherService(tls::openssl::Context context) : context_(std::move(context)) {
    SSL_CTX_set_alpn_select_cb(
        context_.get(),
        [](SSL*, const unsigned char** chosen, unsigned char* bytes, const unsigned char* offered, unsigned,
           void*) {
          *chosen = offered + 1;
          *bytes = offered[0];
          return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
  }

  /// A client connects; whether it believes that this is its service.
  bool isBelievedBy(const tls::TlsContext& connecting) const {
    const RawTls server(context_.get());
    TlsSide client{connecting.connectedTo("h0", 1), {}, {}, {}};
    client.cipher->send("hello", client.outgoing);
    for (int flight = 0; flight < 2; ++flight)
      client.take(server.answerTo(std::exchange(client.outgoing, {})));
    return client.cipher->established();
  }

 protected:
  tls::openssl::Context context_;
};

/// Offers sessions for a week, the most that there is, to whoever comes.
class LavishService : public OtherService {
 public:
  explicit LavishService(const tls::TlsObjects& own) : OtherService(contextWith(TLS_server_method(), own)) {
    SSL_CTX_set_timeout(context_.get(), 7 * kDay);
  }
};

/// Has the session of a client with another service, and no certificate at all.
class FalseService : public OtherService {
 public:
  explicit FalseService(tls::openssl::TlsSession stolen)
      : OtherService(tls::openssl::Context(SSL_CTX_new(TLS_server_method()))), stolen_(std::move(stolen)) {
    SSL_CTX_set_app_data(context_.get(), stolen_.get());
    // Finds none. Who has neither one nor a certificate is not let speak TLS 1.3 by OpenSSL.
    SSL_CTX_set_psk_find_session_callback(context_.get(),
                                          [](SSL*, const unsigned char*, std::size_t, SSL_SESSION** found) {
                                            *found = nullptr;
                                            return 1;
                                          });
    SSL_CTX_set_options(context_.get(), SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_get_cb(context_.get(), [](SSL* connection, const unsigned char*, int, int* is_shared) {
      *is_shared = 1;
      return static_cast<SSL_SESSION*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
    });
  }

 private:
  tls::openssl::TlsSession stolen_;
};

}  // namespace pop::testing
