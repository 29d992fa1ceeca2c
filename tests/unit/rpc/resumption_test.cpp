// SPDX-License-Identifier: Apache-2.0
// Sessions that are come back to, with real certificates, a clock of the test's own and no socket: who may,
// for how long, and that whoever may not shows his certificate as if there were none.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "common/rpc/served_sessions.h"
#include "common/rpc/session_cache.h"
#include "common/rpc/tls_objects.h"
#include "common/rpc/tls_session.h"
#include "tests/testing/test_pairs.h"
#include "tests/testing/tls_conversation.h"

namespace pop::rpc {
namespace {

using testing::TestPairs;
using testing::TlsConversation;

constexpr std::time_t kHour = 3600;
constexpr std::time_t kDay = 24 * kHour;

using openssl::TlsSession;

TlsSession sessionIn(const std::string& secret) {
  const auto* at = reinterpret_cast<const unsigned char*>(secret.data());
  return TlsSession(d2i_SSL_SESSION(nullptr, &at, static_cast<long>(secret.size())));
}

std::string keyOf(const std::string& secret) {
  std::string key(SSL_MAX_MASTER_KEY_LENGTH, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(key.data());
  key.resize(SSL_SESSION_get_master_key(sessionIn(secret).get(), bytes, key.size()));
  return key;
}

// A client of our authority's that speaks TLS 1.2, for which our own has no knob.
class OlderClient {
 public:
  explicit OlderClient(const TlsObjects& own) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_use_certificate(context_.get(), own.chain.front().get());
    SSL_CTX_use_PrivateKey(context_.get(), own.key.get());
    const std::string protocol = char(kProtocolName.size()) + std::string(kProtocolName);
    SSL_CTX_set_alpn_protos(context_.get(), reinterpret_cast<const unsigned char*>(protocol.data()),
                            static_cast<unsigned int>(protocol.size()));
  }

  /// Connects, is trusted, and leaves; whether it came back to its last session.
  bool comesBackTo(const TlsContext& service) {
    const openssl::Connection connection(SSL_new(context_.get()));
    BIO* const arrived = BIO_new(BIO_s_mem());
    BIO* const outgoing = BIO_new(BIO_s_mem());
    SSL_set_bio(connection.get(), arrived, outgoing);
    if (last_) SSL_set_session(connection.get(), last_.get());
    testing::TlsSide server{service.accepted(), {}, {}, {}};
    for (int flight = 0; flight < 4; ++flight) {
      SSL_connect(connection.get());
      char* bytes = nullptr;
      const long size = BIO_get_mem_data(outgoing, &bytes);
      server.take({bytes, static_cast<std::size_t>(size)});
      BIO_reset(outgoing);
      const std::string answer = std::exchange(server.outgoing, {});
      BIO_write(arrived, answer.data(), static_cast<int>(answer.size()));
    }
    EXPECT_TRUE(server.cipher->established()) << server.status.message();
    server.cipher->offerSession();
    last_.reset(SSL_get1_session(connection.get()));
    SSL_set_shutdown(connection.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    return SSL_session_reused(connection.get()) == 1;
  }

 private:
  openssl::Context context_;
  TlsSession last_;
};

class Resumption : public ::testing::Test {
 protected:
  // A job of one user. Nothing of it is in a file.
  struct Client {
    std::shared_ptr<SessionCache> kept;
    std::shared_ptr<const TlsContext> context;
  };

  Client client(const KeyPair& pair) const {
    const auto kept = std::make_shared<SessionCache>("", pairs_.filesOf(pair), clock());
    return {kept, pairs_.contextOf(pair, TlsRole::kClient, {.kept = kept})};
  }
  std::shared_ptr<const TlsContext> server() const {
    return pairs_.contextOf(host_, TlsRole::kServer, {.now = clock()});
  }
  std::function<std::time_t()> clock() const {
    return [now = now_] { return *now; };
  }

  // A conversation that goes well; whether it was by an earlier session.
  static bool resumes(const Client& client, const TlsContext& server, const std::string& host = "h0",
                      int port = 1, const std::string& user = "alice") {
    TlsConversation both(*client.context, server, host, port);
    both.speak();
    EXPECT_TRUE(both.client.status.ok()) << both.client.status.message();
    EXPECT_TRUE(both.server.status.ok()) << both.server.status.message();
    EXPECT_EQ(both.client.heard, "from the server");
    EXPECT_EQ(both.server.heard, "from the client");
    EXPECT_EQ(both.server.cipher->peerUser().value(), user);
    EXPECT_EQ(both.server.cipher->resumed(), both.client.cipher->resumed());
    both.trust();
    return both.server.cipher->resumed();
  }

  TestPairs pairs_;
  KeyPair host_ = makeHostCertificate(pairs_.authority, {"h0", "h1"}, 10).value();
  KeyPair alice_ = makeUserCertificate(pairs_.authority, "alice", 10).value();
  std::shared_ptr<std::time_t> now_ = std::make_shared<std::time_t>(std::time(nullptr));
};

TEST_F(Resumption, IsByTheUserOfTheFirstHandshake) {
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  EXPECT_TRUE(resumes(alice, *service));
  EXPECT_TRUE(resumes(alice, *service));
}

TEST_F(Resumption, IsForThoseWhomTheServiceTrustsOnly) {
  const auto service = server();
  const Client alice = client(alice_);
  TlsConversation both(*alice.context, *service);
  both.speak();
  EXPECT_EQ(alice.kept->find("h0:1"), "");
  EXPECT_FALSE(resumes(alice, *service));
}

TEST_F(Resumption, IsOfNoUseWithAnotherService) {
  const Client alice = client(alice_);
  const auto service = server();
  EXPECT_FALSE(resumes(alice, *service));
  EXPECT_FALSE(resumes(alice, *service, "h1"));
  EXPECT_FALSE(resumes(alice, *service, "h0", 2));
  EXPECT_TRUE(resumes(alice, *service));
}

// A service that has read its certificates again, or was started again, has another context.
TEST_F(Resumption, EndsWhenTheServiceReadsItsCertificatesAgain) {
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *server()));
  EXPECT_FALSE(resumes(alice, *server()));
}

TEST_F(Resumption, EndsWithTheDay) {
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  *now_ += ServedSessions::kLifetimeSeconds - 1;
  EXPECT_TRUE(resumes(alice, *service));
  *now_ += 1;  // coming back has not made it longer
  EXPECT_FALSE(resumes(alice, *service));
}

// Whatever the client believes: it is the service's clock that counts.
TEST_F(Resumption, OfAnOldSessionIsRefusedByTheService) {
  const auto service = server();
  const auto kept =
      std::make_shared<SessionCache>("", pairs_.filesOf(alice_), [] { return std::time(nullptr); });
  const Client alice{kept, pairs_.contextOf(alice_, TlsRole::kClient, {.kept = kept})};
  EXPECT_FALSE(resumes(alice, *service));
  *now_ += ServedSessions::kLifetimeSeconds;
  EXPECT_NE(kept->find("h0:1"), "");
  EXPECT_FALSE(resumes(alice, *service));
}

TEST_F(Resumption, EndsWithTheUsersCertificate) {
  const KeyPair short_lived = makeUserCertificate(pairs_.authority, "alice", 2).value();
  *now_ += 2 * kDay - kHour;
  const auto service = server();
  const auto kept =
      std::make_shared<SessionCache>("", pairs_.filesOf(short_lived), [] { return std::time(nullptr); });
  const Client alice{kept, pairs_.contextOf(short_lived, TlsRole::kClient, {.kept = kept})};
  EXPECT_FALSE(resumes(alice, *service));
  EXPECT_TRUE(resumes(alice, *service));
  *now_ += kHour + 60;
  EXPECT_NE(kept->find("h0:1"), "");
  EXPECT_FALSE(resumes(alice, *service));
}

TEST_F(Resumption, EndsWithTheCertificateOfTheService) {
  host_ = makeHostCertificate(pairs_.authority, {"h0"}, 2).value();
  *now_ += 2 * kDay - kHour;
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  EXPECT_NE(alice.kept->find("h0:1"), "");
  *now_ += kHour + 60;
  EXPECT_EQ(alice.kept->find("h0:1"), "");
}

TEST_F(Resumption, IsOfNoUseBeforeItsBeginning) {
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  *now_ -= 5 * kDay;
  EXPECT_FALSE(resumes(alice, *service));
}

// A session whose key is not the service's, which no accident makes: the file has a digest.
TEST_F(Resumption, ThatFailsIsNotTriedAgain) {
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  std::string secret = alice.kept->find("h0:1");
  const std::string key = keyOf(secret);
  secret[secret.find(key)] ^= 1;
  alice.kept->keep("h0:1", *now_ + kHour, secret);
  TlsConversation both(*alice.context, *service);
  both.speak();
  EXPECT_FALSE(both.server.status.ok());
  EXPECT_FALSE(both.client.status.ok());
  EXPECT_EQ(both.server.heard, "");
  EXPECT_FALSE(resumes(alice, *service));
  EXPECT_TRUE(resumes(alice, *service));
}

TEST_F(Resumption, OfNonsenseIsAFullHandshake) {
  const auto service = server();
  for (const std::string& nonsense :
       {std::string("nonsense"), std::string(1000, '\x30'), std::string(1, '\0')}) {
    const Client alice = client(alice_);
    alice.kept->keep("h0:1", *now_ + kHour, nonsense);
    EXPECT_FALSE(resumes(alice, *service));
    EXPECT_TRUE(resumes(alice, *service));
  }
}

TEST_F(Resumption, KeepsTheOldestOutWhenSessionsAreMany) {
  const auto service = server();
  const Client first = client(alice_);
  EXPECT_FALSE(resumes(first, *service));
  for (std::size_t others = 0; others < ServedSessions::kMost; ++others)
    ASSERT_FALSE(resumes(client(alice_), *service));
  EXPECT_FALSE(resumes(first, *service));
}

// There a session's secret would be the key of the connection itself.
TEST_F(Resumption, IsNotForTls12) {
  const auto service = server();
  OlderClient alice(*pairs_.filesOf(alice_).objects);
  EXPECT_FALSE(alice.comesBackTo(*service));
  EXPECT_FALSE(alice.comesBackTo(*service));
}

// The other side's certificate is not in it, nor is anything sent before the handshake is done (0-RTT).
TEST_F(Resumption, KeepsNoMoreThanItNeeds) {
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *server()));
  const std::string secret = alice.kept->find("h0:1");
  const TlsSession session = sessionIn(secret);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(SSL_SESSION_get0_peer(session.get()), nullptr);
  EXPECT_EQ(SSL_SESSION_get_max_early_data(session.get()), 0U);
  EXPECT_EQ(SSL_SESSION_get_protocol_version(session.get()), TLS1_3_VERSION);
}

// What is agreed upon anew for each connection: whoever learns a session's secret later, or has it, cannot
// read what was said.
TEST_F(Resumption, HasAKeyExchangeOfItsOwn) {
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  TlsConversation both(*alice.context, *service);
  both.client.cipher->send("hello", both.client.outgoing);
  const std::string hello = both.client.outgoing;
  EXPECT_NE(hello.find(std::string("\x00\x2d\x00\x02\x01\x01", 6)), std::string::npos)
      << "psk_key_exchange_modes: psk_dhe_ke, and no other";
}

}  // namespace
}  // namespace pop::rpc
