// SPDX-License-Identifier: Apache-2.0
// Sessions that are come back to, with real certificates, a clock of the test's own and no socket: who may,
// for how long, and that whoever may not shows his certificate as if there were none.
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <ctime>
#include <memory>
#include <string>

#include "common/tls/served_sessions.h"
#include "common/tls/session_cache.h"
#include "common/tls/tls_objects.h"
#include "common/tls/tls_session.h"
#include "tests/testing/test_pairs.h"
#include "tests/testing/tls_conversation.h"
#include "tests/unit/common/tls/other_tls.h"

namespace pop::tls {
namespace {

using testing::TestPairs;
using testing::TlsConversation;

constexpr std::time_t kHour = 3600;
using openssl::TlsSession;
using testing::FalseService;
using testing::kDay;
using testing::LavishService;
using testing::OlderClient;

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

class Resumption : public ::testing::Test {
 protected:
  // A job of one user. Nothing of it is in a file.
  struct Client {
    std::shared_ptr<tls::SessionCache> kept;
    std::shared_ptr<const tls::TlsContext> context;
  };

  Client client(const KeyPair& pair) const {
    const auto kept = std::make_shared<tls::SessionCache>("", pairs_.filesOf(pair), clock());
    return {kept, pairs_.contextOf(pair, tls::TlsRole::kClient, {.kept = kept})};
  }
  // By the clock on the wall: what the test's clock ends is ended by the service.
  Client clientWithItsOwnClock(const KeyPair& pair) const {
    const auto kept =
        std::make_shared<tls::SessionCache>("", pairs_.filesOf(pair), [] { return std::time(nullptr); });
    return {kept, pairs_.contextOf(pair, tls::TlsRole::kClient, {.kept = kept})};
  }
  std::shared_ptr<const tls::TlsContext> server() const {
    return pairs_.contextOf(host_, tls::TlsRole::kServer, {.now = clock()});
  }
  std::function<std::time_t()> clock() const {
    return [now = now_] { return *now; };
  }

  // A conversation that goes well; whether it was by an earlier session.
  static bool resumes(const Client& client, const tls::TlsContext& server, const std::string& host = "h0",
                      int port = 1, const std::string& user = "alice") {
    TlsConversation both(*client.context, server, host, port);
    both.speak();
    EXPECT_TRUE(both.client.status.ok()) << both.client.status.message();
    EXPECT_TRUE(both.server.status.ok()) << both.server.status.message();
    EXPECT_EQ(both.client.heard, "from the server");
    EXPECT_EQ(both.server.heard, "from the client");
    EXPECT_EQ(both.server.cipher->client().value().user, user);
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
  const Client alice = clientWithItsOwnClock(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  *now_ += ServedSessions::kLifetimeSeconds;
  EXPECT_NE(alice.kept->find("h0:1"), "");
  EXPECT_FALSE(resumes(alice, *service));
}

TEST_F(Resumption, EndsWithTheUsersCertificate) {
  const KeyPair short_lived = makeUserCertificate(pairs_.authority, "alice", 2).value();
  *now_ += 2 * kDay - kHour;
  const auto service = server();
  const Client alice = clientWithItsOwnClock(short_lived);
  EXPECT_FALSE(resumes(alice, *service));
  EXPECT_TRUE(resumes(alice, *service));
  *now_ += kHour + 60;
  EXPECT_NE(alice.kept->find("h0:1"), "");
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
  for (const Client& alice : {client(alice_), clientWithItsOwnClock(alice_)}) {
    EXPECT_FALSE(resumes(alice, *service));
    *now_ -= 5 * kDay;
    EXPECT_FALSE(resumes(alice, *service));
    *now_ += 5 * kDay;
  }
}

// The client sees no certificate when it comes back.
TEST_F(Resumption, ByWhoeverHasItPassesForItsService) {
  const Client alice = client(alice_);
  EXPECT_FALSE(FalseService(nullptr).isBelievedBy(*alice.context));
  EXPECT_FALSE(resumes(alice, *server()));
  EXPECT_TRUE(FalseService(sessionIn(alice.kept->find("h0:1"))).isBelievedBy(*alice.context));
  *now_ += ServedSessions::kLifetimeSeconds;
  EXPECT_EQ(alice.kept->find("h0:1"), "");
}

TEST_F(Resumption, EndsWithTheDayWhateverTheServiceOffers) {
  const Client alice = client(alice_);
  EXPECT_TRUE(LavishService(*pairs_.filesOf(host_).objects).isBelievedBy(*alice.context));
  *now_ += ServedSessions::kLifetimeSeconds - 1;
  EXPECT_NE(alice.kept->find("h0:1"), "");
  *now_ += 1;
  EXPECT_EQ(alice.kept->find("h0:1"), "");
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

// Whoever is between the two can send a message again, and nonsense after it.
TEST_F(Resumption, IsNotEndedByWhoRepeatsAHello) {
  const auto service = server();
  const Client alice = client(alice_);
  EXPECT_FALSE(resumes(alice, *service));
  TlsConversation both(*alice.context, *service);
  both.client.cipher->send("hello", both.client.outgoing);
  testing::TlsSide repeated{service->accepted(), {}, {}, {}};
  repeated.take(both.client.outgoing);
  EXPECT_TRUE(repeated.status.ok()) << repeated.status.message();
  repeated.take(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, '?'));
  EXPECT_FALSE(repeated.status.ok());
  both.carry();
  EXPECT_TRUE(both.server.cipher->established() && both.server.cipher->resumed());
  EXPECT_TRUE(resumes(alice, *service));
}

TEST_F(Resumption, KeepsTheOldestOutWhenSessionsAreMany) {
  const auto service = server();
  const Client first = client(alice_);
  EXPECT_FALSE(resumes(first, *service));
  for (std::size_t others = 0; others < ServedSessions::kMost; others += ServedSessions::kMaxOfOneUser) {
    const std::string name = "user" + std::to_string(others);
    const KeyPair user = makeUserCertificate(pairs_.authority, name, 10).value();
    for (std::size_t i = 0; i < ServedSessions::kMaxOfOneUser; ++i)
      ASSERT_FALSE(resumes(client(user), *service, "h0", 1, name));
  }
  EXPECT_FALSE(resumes(first, *service));
}

TEST_F(Resumption, OfOneUserIsNotPushedOutByAnothers) {
  const auto service = server();
  const Client bob = client(makeUserCertificate(pairs_.authority, "bob", 10).value());
  const Client first = client(alice_);
  const Client second = client(alice_);
  EXPECT_FALSE(resumes(bob, *service, "h0", 1, "bob"));
  EXPECT_FALSE(resumes(first, *service));
  EXPECT_FALSE(resumes(second, *service));
  for (std::size_t others = 1; others < ServedSessions::kMaxOfOneUser; ++others)
    ASSERT_FALSE(resumes(client(alice_), *service));
  EXPECT_TRUE(resumes(second, *service));
  EXPECT_TRUE(resumes(bob, *service, "h0", 1, "bob"));
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
  both.carry();
  EXPECT_EQ(both.server.heard, "hello");
  EXPECT_TRUE(both.server.cipher->resumed() && both.client.cipher->resumed());
}

}  // namespace
}  // namespace pop::tls
