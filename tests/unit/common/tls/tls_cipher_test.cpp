// SPDX-License-Identifier: Apache-2.0
// Both ends of TLS with real certificates and no socket: who is believed, and what the others are told.
#include "common/tls/tls_cipher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <ctime>

#include "common/tls/tls_errors.h"
#include "tests/testing/test_pairs.h"
#include "tests/testing/tls_conversation.h"
#include "tests/unit/common/tls/other_tls.h"

namespace pop::tls {
namespace {

using ::testing::HasSubstr;
using testing::TestPairs;
using testing::TlsConversation;
using Side = testing::TlsSide;

TlsConversation between(const tls::TlsContext& client, const tls::TlsContext& server,
                        const std::string& host = "h0") {
  TlsConversation both(client, server, host);
  both.speak();
  return both;
}

TEST(TlsCipher, CarriesWhatWasSentBeforeTheSidesKnewEachOther) {
  const TestPairs pairs;
  const TlsConversation both = between(*pairs.client(), *pairs.server());
  EXPECT_TRUE(both.client.status.ok()) << both.client.status.message();
  EXPECT_TRUE(both.server.status.ok()) << both.server.status.message();
  EXPECT_EQ(both.client.heard, "from the server");
  EXPECT_EQ(both.server.heard, "from the client");
  EXPECT_EQ(both.server.cipher->client().value().user, "alice");
}

TEST(TlsCipher, TakesBytesOneByOneAndInHeaps) {
  const TestPairs pairs;
  TlsConversation both = between(*pairs.client(), *pairs.server());
  const std::string large(100'000, 'x');
  both.server.heard.clear();
  both.client.cipher->send(large, both.client.outgoing);
  EXPECT_EQ(both.client.outgoing.find(std::string(16, 'x')), std::string::npos) << "chance cannot write that";
  const std::string wire = std::exchange(both.client.outgoing, {});
  for (const char byte : wire.substr(0, 20'000)) both.server.take(std::string(1, byte));
  both.server.take(wire.substr(20'000));
  EXPECT_EQ(both.server.heard, large);
}

TEST(TlsCipher, BelievesAHostUnderItsNamesOnly) {
  const TestPairs pairs;
  const auto client = pairs.client();
  const auto server = pairs.server();
  EXPECT_TRUE(between(*client, *server, "127.0.0.1").client.status.ok());
  for (const char* name : {"h1", "127.0.0.2", "h0.example", "::1"}) {
    const TlsConversation both = between(*client, *server, name);
    EXPECT_THAT(both.client.status.message(), HasSubstr("its certificate is not for this name")) << name;
    EXPECT_FALSE(both.server.status.ok());
    EXPECT_EQ(both.server.heard, "");
  }
}

TEST(TlsCipher, RefusesAnotherAuthorityOnEitherSide) {
  const TestPairs ours;
  const TestPairs theirs;
  EXPECT_THAT(between(*ours.client(), *theirs.server()).client.status.message(),
              HasSubstr("its certificate is not signed by the ca.pem of --agent-tls"));
  // A client that believes every server, and has a certificate of its own making.
  const KeyPair user = makeUserCertificate(theirs.authority, "alice", 10).value();
  const auto unauthenticated = tls::TlsContext::make(
      tls::tlsFilesOf(ours.authority.certificate_pem, user.certificate_pem, user.key_pem),
      tls::TlsRole::kClient);
  const TlsConversation both = between(*unauthenticated.value(), *ours.server());
  EXPECT_THAT(both.server.status.message(), HasSubstr("its certificate is refused"));
  EXPECT_THAT(both.client.status.message(), HasSubstr("it does not accept your certificate"));
  EXPECT_EQ(both.server.heard, "");
  EXPECT_FALSE(both.server.cipher->client().ok());
}

TEST(TlsCipher, RefusesCertificatesOfTheOtherRole) {
  const TestPairs pairs;
  const auto host_as_client =
      pairs.contextOf(makeHostCertificate(pairs.authority, {"h0"}, 10).value(), tls::TlsRole::kClient);
  EXPECT_FALSE(between(*host_as_client, *pairs.server()).server.cipher->client().ok());
  const auto user_as_server =
      pairs.contextOf(makeUserCertificate(pairs.authority, "alice", 10).value(), tls::TlsRole::kServer);
  EXPECT_THAT(between(*pairs.client(), *user_as_server).client.status.message(), HasSubstr("not a host's"));
}

TEST(TlsErrors, AreThoseOfTlsOnly) {
  const auto explained = [](int library) {
    return tls::explainTls({.error = ERR_PACK(library, 0, SSL_R_WRONG_VERSION_NUMBER)}).message();
  };
  EXPECT_THAT(explained(ERR_LIB_SSL), HasSubstr("it does not use TLS on that port"));
  EXPECT_THAT(explained(ERR_LIB_X509), HasSubstr("TLS has failed: "));
}

TEST(TlsCipher, TellsBytesThatAreNoTls) {
  const TestPairs pairs;
  Side client{pairs.client()->connectedTo("h0"), {}, {}, {}};
  client.cipher->send("hello", client.outgoing);
  client.take("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n");
  EXPECT_THAT(client.status.message(), HasSubstr("it does not use TLS on that port"));
  Side server{pairs.server()->accepted(), {}, {}, {}};
  server.take("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(server.status.ok());
}

TEST(TlsCipher, SendsShortMessagesInNoTimeAfterALongOne) {
  const TestPairs pairs;
  TlsConversation both = between(*pairs.client(), *pairs.server());
  const auto timeOf = [&](const std::string& message, int times) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < times; ++i) both.client.cipher->send(message, both.client.outgoing);
    return std::clock() - start;
  };
  const std::clock_t once = timeOf(std::string(32 << 20, 'x'), 1);
  both.client.outgoing.clear();
  EXPECT_LT(timeOf("short", 1000), once);
}

// Clients of earlier versions have kept sessions, and other programs ask for them.
TEST(TlsCipher, MakesAFullHandshakeEachTime) {
  const TestPairs pairs;
  const auto server = pairs.server();
  const tls::TlsFiles host = pairs.filesOf(makeHostCertificate(pairs.authority, {"h0"}, 10).value());
  const tls::TlsFiles alice = pairs.filesOf(makeUserCertificate(pairs.authority, "alice", 10).value());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    testing::ReturningClient client(*alice.objects, version);
    client.visit(*host.objects);
    EXPECT_TRUE(client.hasSession());
    EXPECT_FALSE(client.comesBackTo(*server)) << version;
    EXPECT_FALSE(client.hasSession()) << version;
    EXPECT_FALSE(client.comesBackTo(*server)) << version;
  }
}

// New keys cost a few bytes to ask for, and as many of an answer, and much more to make.
TEST(TlsCipher, EndsWithWhoAsksForNewKeysOverAndOver) {
  const TestPairs pairs;
  Side server{pairs.server()->accepted(), {}, {}, {}};
  const tls::TlsFiles files = pairs.filesOf(makeUserCertificate(pairs.authority, "alice", 10).value());
  const testing::RestlessClient client(*files.objects, server);
  for (int i = 0; i < 30; ++i) server.take(client.keyUpdate());
  EXPECT_TRUE(server.status.ok()) << "some are no harm: " << server.status.message();
  std::string flood;
  for (int i = 0; i < 10'000; ++i) flood += client.keyUpdate();
  server.outgoing.clear();
  server.take(flood);
  EXPECT_EQ(server.status, Status(Code::kResourceExhausted, "it requests new keys too often"));
  EXPECT_LT(server.outgoing.size(), 1000U) << "the first of them are answered, and no more";
}

}  // namespace
}  // namespace pop::tls
