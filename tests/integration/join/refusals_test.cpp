// SPDX-License-Identifier: Apache-2.0
// Hosts that cannot join, and what their admins read.
#include "common/os/tcp.h"
#include "tests/integration/join/join_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class JoinRefused : public JoinTest {
 protected:
  void expectWords(const std::string& words) { EXPECT_TRUE(waitForLog("h0", words)) << logOf("h0"); }
};

TEST_F(JoinRefused, ByPopdistdOfAnotherAuthority) {
  makeCertificates("tls2");
  const auto controller = popdistd({}, "tls2");
  serve("h0", *controller);
  expectWords("its certificate is not signed by the ca.pem of this host's --tls");
}

TEST_F(JoinRefused, ByPopdistdOfAnotherName) {
  makeCertificates("tls", "elsewhere");
  const auto controller = popdistd({}, "tls", "host-elsewhere");
  serve("h0", *controller);
  expectWords("its certificate is not for this name");
}

TEST_F(JoinRefused, WithAUsersCertificateOnTheOtherSide) {
  const auto controller = popdistd({}, "tls", "user-alice");
  serve("h0", *controller);
  expectWords("cannot join popdistd at 127.0.0.1:");
  EXPECT_EQ(controller->connections(), 0);
}

// Its ca.pem knows popdistd's authority, but popdistd does not know the authority of its certificate.
TEST_F(JoinRefused, WithACertificateThatPopdistdDoesNotAccept) {
  makeCertificates("tls2");
  const auto controller = popdistd();
  const std::string both = fileText(path("tls2/ca.pem")) + fileText(path("tls/ca.pem"));
  std::ofstream(path("tls2/ca.pem")) << both;
  serve("h0", controller->port(), " --tls " + install("h0", "tls2") + " --users " + path("users"));
  expectWords("does popdistd accept this host's certificate");
  EXPECT_EQ(controller->connections(), 0);
}

TEST_F(JoinRefused, UnderANameThatIsNotInItsCertificate) {
  const auto controller = popdistd();
  install("h1");
  serve("h0", controller->port(), " --tls " + path("h1.tls") + " --users " + path("users"));
  expectWords("not a name of its certificate");
}

TEST_F(JoinRefused, ByPopdistdOfAnotherProtocol) {
  const auto controller = popdistd({.refusal = "this popdistd speaks protocol 7: install poprun 2.0 there"});
  serve("h0", *controller);
  expectWords("this popdistd speaks protocol 7: install poprun 2.0 there; trying again");
}

TEST_F(JoinRefused, ByAServerWithoutTls) {
  const FakePopdistd controller({});
  serve("h0", controller);
  expectWords("it does not use TLS on that port");
}

TEST_F(JoinRefused, ByAClusterWhoseNameIsNone) {
  const auto controller = popdistd({.cluster = "../../etc"});
  serve("h0", *controller);
  expectWords("popdistd calls its cluster '../../etc', which cannot be the name of a directory");
  EXPECT_FALSE(std::filesystem::exists(path("h0.state/cluster")));
}

TEST_F(JoinRefused, IsSaidOnceAndJoinsWhenTheCertificatesAreReplaced) {
  makeCertificates("tls2");
  const auto controller = popdistd({}, "tls2");
  serve("h0", *controller);
  expectWords("not signed by the ca.pem");
  install("h0", "tls2");
  EXPECT_EQ(joins(*controller, "h0").name(), "h0") << "certificates are read again for each attempt";
  const std::string log = logOf("h0");
  const std::size_t first = log.find("not signed by");
  EXPECT_EQ(log.find("not signed by", first + 1), std::string::npos) << log;
}

// Without TLS, any machine on the way to popdistd could start jobs here.
TEST_F(JoinRefused, WithoutTlsBeyondThisHost) {
  const std::string said = output(POP_BIN_DIR "/popdist-agent serve --controller 10.1.2.3:8090 2>&1");
  EXPECT_THAT(said, HasSubstr("without TLS anybody on the way to 10.1.2.3 could start jobs here"));
}

TEST_F(JoinRefused, WithOptionsThatAreForJoiningOnly) {
  EXPECT_THAT(output(POP_BIN_DIR "/popdist-agent serve --slots 3 2>&1"), HasSubstr("need --controller"));
  EXPECT_THAT(output(POP_BIN_DIR "/popdist-agent serve --controller here 2>&1"),
              HasSubstr("--controller here is not ADDRESS:PORT"));
}

TEST_F(JoinRefused, WithAStateThatOthersCanWrite) {
  const auto controller = popdistd();
  std::filesystem::create_directories(path("h0.state"));
  std::filesystem::permissions(path("h0.state"), std::filesystem::perms(0777));
  serve("h0", *controller);
  expectWords("h0.state can be written by others: chmod go-w it");
  EXPECT_TRUE(hasEnded("h0"));
}

}  // namespace
}  // namespace pop::testing
