// SPDX-License-Identifier: Apache-2.0
// Connections, limits and certificates of the daemon's HTTP.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "popdistd/net/client_header.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/popdistd/web/web_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public WebTest {};

// A cluster without a leader: the client's next request has to look again for one.
TEST_F(HttpServerTest, KeepsNoConnectionWhereItIsNotToKeepThem) {
  serve({.keeps_connections = false});
  RawClient client(port);
  client.say(request("GET", "/healthz"));
  EXPECT_THAT(client.hear(), HasSubstr("Connection: close"));
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpServerTest, KeepsAConnectionForMoreRequests) {
  serve();
  RawClient client(port);
  client.say(request("GET", "/healthz") +
             request("GET", "/healthz"));  // the second before the first's answer
  EXPECT_THAT(client.hear("ok\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(client.hear("ok\n"), StartsWith("HTTP/1.1 200"));
  client.say(request("GET", "/healthz", "", "Connection: close\r\n"));
  EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, LimitsHeadsAndBodies) {
  serve();
  EXPECT_THAT(ask("GET", "/" + std::string(20'000, 'a')), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask("POST", "/v1/Submit", std::string(5 * 1024 * 1024, ' ')), StartsWith("HTTP/1.1 413"));
  const std::string large = R"({"spec": {"env_families": ")" + std::string(4'000'000, 'a') + "\"}}";
  EXPECT_THAT(post("Submit", large), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, SaysWhenItIsNotHttp) {
  serve();
  RawClient client(port);
  client.say("EHLO there\r\n\r\n");
  EXPECT_THAT(client.hear(), StartsWith("HTTP/1.1 400"));
}

TEST_F(HttpServerTest, AllowsABodyToCome) {
  serve();
  RawClient client(port);
  client.say(
      "POST /v1/About HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(client.hear("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  client.say("{}");
  EXPECT_THAT(client.hear("}"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"me\"")));
}

TEST_F(HttpServerTest, GivesUpWhoIsSlow) {
  serve({.head_timeout = std::chrono::milliseconds(200), .body_timeout = std::chrono::milliseconds(200)});
  RawClient silent(port);
  EXPECT_EQ(silent.hear(), "");
  RawClient slow(port);
  slow.say("GET / HT");
  EXPECT_EQ(slow.hear(), "");
  RawClient slow_body(port);
  slow_body.say("POST /v1/About HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{");
  EXPECT_EQ(slow_body.hear(), "");
}

TEST_F(HttpServerTest, AnswersThoughNobodyElseDoes) {
  serve({.answer_timeout = std::chrono::milliseconds(100)});
  loop.run([this] { api.answers = false; });
  EXPECT_THAT(post("Get", "{}"), AllOf(StartsWith("HTTP/1.1 504"), HasSubstr("\"code\":4")));
  loop.run([this] { api.unanswered.front()(v1::JobInfo()); });
}

TEST_F(HttpServerTest, TheIdlestGivesWayToANewConnection) {
  serve({.most_connections = 8});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<RawClient>(port));
    idle.back()->say(request("GET", "/healthz"));
    EXPECT_THAT(idle.back()->hear("ok\n"), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(ask("GET", "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(idle.front()->hear(), "");
  EXPECT_TRUE(idle.front()->ended());
  idle.back()->say(request("GET", "/healthz"));
  EXPECT_THAT(idle.back()->hear("ok\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, ManyIdleConnectionsOfAnAddressEndNoneOfAnother) {
  serve({.most_connections = 8});
  RawClient other(port, 0, INADDR_LOOPBACK + 1);
  other.say(request("GET", "/healthz"));
  EXPECT_THAT(other.hear("ok\n"), StartsWith("HTTP/1.1 200"));
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.push_back(std::make_unique<RawClient>(port));
    crowd.back()->say(request("GET", "/healthz"));
    EXPECT_THAT(crowd.back()->hear("ok\n"), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_EQ(crowd.front()->hear(), "");
  EXPECT_TRUE(crowd.front()->ended());
  other.say(request("GET", "/healthz"));
  EXPECT_THAT(other.hear("ok\n"), StartsWith("HTTP/1.1 200")) << "the idlest of all";
}

TEST_F(HttpServerTest, ConnectionsThatAreAnsweredStay) {
  serve({.most_connections = 2});
  RawClient one(port);
  RawClient other(port);
  for (const RawClient* const client : {&one, &other}) client->say(request("GET", "/v1/watch"));
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 2; }));
  EXPECT_EQ(RawClient(port).hear(), "");
  other.close();
  std::string answer;
  while (answer.empty()) answer = ask("GET", "/healthz");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AUserReadsABoundedNumberOfStreams) {
  serve({.most_streams_of_one = 1});
  RawClient first(port);
  first.say(request("GET", "/v1/watch"));
  ASSERT_TRUE(loop.until([this] { return api.changes.readers().size() == 1; }));
  first.hear("\r\n\r\n");
  EXPECT_THAT(ask("GET", "/v1/watch"), StartsWith("HTTP/1.1 429"));
  first.close();
  EXPECT_TRUE(hasNoReaders());
  RawClient next(port);
  next.say(request("GET", "/v1/watch"));
  EXPECT_THAT(next.hear("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, StopsWithAWordForWhoWaits) {
  serve();
  loop.run([this] { api.answers = false; });
  RawClient waits(port);
  waits.say(request("POST", "/v1/Get", "{}", "Content-Type: application/json\r\n"));
  RawClient idle(port);
  RawClient streams(port);
  streams.say(request("GET", "/v1/watch"));
  ASSERT_TRUE(loop.until([this] { return api.unanswered.size() == 1 && api.changes.readers().size() == 1; }));
  const auto begin = Clock::now();
  stop();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(2));
  EXPECT_THAT(waits.hear(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("by the test")));
  EXPECT_EQ(idle.hear(), "");
  streams.hear();
  EXPECT_TRUE(hasNoReaders());
  EXPECT_FALSE(RawClient(port).connected());
}

// With curl, which knows TLS.
class CertifiedHttp : public WebTest {
 protected:
  void SetUp() override {
    HttpOptions options;
    options.tls = pairs.filesOf(tls::makeHostCertificate(pairs.authority, {"127.0.0.1"}, 10).value());
    serve(std::move(options));
  }

  std::string curl(const tls::KeyPair* pair, const std::string& path) {
    std::ofstream(directory / "ca.pem") << pairs.authority.certificate_pem;
    std::string command = "curl -sS -i --max-time 20 --cacert " + (directory / "ca.pem").string();
    if (pair != nullptr) {
      std::ofstream(directory / "own.pem") << pair->certificate_pem;
      std::ofstream(directory / "key.pem") << pair->key_pem;
      command += " --cert " + (directory / "own.pem").string() + " --key " + (directory / "key.pem").string();
    }
    command += " https://127.0.0.1:" + std::to_string(port) + path + " 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    std::array<char, 4096> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe.get()))
      text.append(bytes.data(), count);
    return text;
  }

  testing::TempDir directory;
};

TEST_F(CertifiedHttp, KnowsItsCallers) {
  const tls::KeyPair alice = tls::makeUserCertificate(pairs.authority, "alice", 10).value();
  EXPECT_THAT(curl(&alice, "/v1/jobs"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"alice\"")));
  EXPECT_THAT(curl(nullptr, "/v1/jobs"), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("\"code\":16")));
  EXPECT_THAT(curl(nullptr, "/healthz"), StartsWith("HTTP/1.1 200"));
  const tls::KeyPair host = tls::makeHostCertificate(pairs.authority, {"h0"}, 10).value();
  EXPECT_THAT(curl(&host, "/v1/jobs"), StartsWith("HTTP/1.1 401"));
  const testing::TestPairs others;
  const tls::KeyPair of_another_authority = tls::makeUserCertificate(others.authority, "alice", 10).value();
  EXPECT_THAT(curl(&of_another_authority, "/v1/jobs"), StartsWith("curl: "));
}

TEST_F(CertifiedHttp, TakesNewCertificates) {
  const testing::TestPairs others;
  loop.run([&] {
    EXPECT_TRUE(
        server->setTls(others.filesOf(tls::makeHostCertificate(others.authority, {"127.0.0.1"}, 10).value()))
            .ok());
  });
  pairs = others;
  std::string answer;
  for (int i = 0; i < 100 && !answer.starts_with("HTTP"); ++i) answer = curl(nullptr, "/healthz");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_FALSE(loop.run([&] { return server->setTls(tls::tlsFilesOf("no", "such", "thing")); }).ok());
}

TEST_F(CertifiedHttp, IsNothingWithoutTls) {
  RawClient client(port);
  client.say(request("GET", "/healthz"));
  EXPECT_THAT(client.hear(), ::testing::Not(HasSubstr("200")));
}

class PassedOnTest : public HttpServerTest {
 protected:
  /// By a connection that begins with `header`.
  std::string askWithAWrongToken(const std::string& header) const {
    RawClient client(port);
    client.say(header + request("GET", "/v1/jobs", "", "Authorization: Bearer x\r\nConnection: close\r\n"));
    return client.hear();
  }

  const std::shared_ptr<HeaderCheck> headers = std::make_shared<HeaderCheck>("the key of this lead");
  HeaderWriter writer{"the key of this lead", 1};
};

TEST_F(PassedOnTest, WrongTokensCountForTheClientAndNotForWhoPassesThemOn) {
  serve({.headers = headers});
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(askWithAWrongToken(writer.next({"10.1.2.3", i})), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(askWithAWrongToken(writer.next({"10.1.2.3", 20})), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(askWithAWrongToken(writer.next({"10.1.2.4", 20})), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(askWithAWrongToken(""), StartsWith("HTTP/1.1 401"));
}

TEST_F(PassedOnTest, AClientOfIPv4IsTheSameByBothWays) {
  serve({.address = "::", .headers = headers});
  for (int i = 0; i < 20; ++i) EXPECT_THAT(askWithAWrongToken(""), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(askWithAWrongToken(writer.next({"127.0.0.1", 1})), StartsWith("HTTP/1.1 429"));
}

TEST_F(PassedOnTest, NobodyChoosesAnAddress) {
  serve({.headers = headers});
  const std::string used = writer.next({"10.1.2.3", 1});
  EXPECT_THAT(askWithAWrongToken(used), StartsWith("HTTP/1.1 401"));
  EXPECT_EQ(askWithAWrongToken(used), "");
  EXPECT_EQ(askWithAWrongToken(HeaderWriter("a guess", 1).next({"10.1.2.3", 1})), "");
}

TEST_F(PassedOnTest, AloneItTakesNoHeader) {
  serve();
  EXPECT_EQ(askWithAWrongToken(writer.next({"10.1.2.3", 1})), "");
}

TEST_F(PassedOnTest, NobodyIsWaitedForWhoSaysNothingOrHalfAHeader) {
  serve({.head_timeout = std::chrono::milliseconds(100), .headers = headers});
  EXPECT_EQ(RawClient(port).hear(), "");
  RawClient half(port);
  half.say(writer.next({"10.1.2.3", 1}).substr(0, 50));
  EXPECT_EQ(half.hear(), "");
}

TEST_F(PassedOnTest, AHeaderMayComeInPieces) {
  serve({.headers = headers});
  const std::string header = writer.next({"10.1.2.3", 1});
  RawClient client(port);
  client.say(header.substr(0, 1));
  client.say(header.substr(1) + request("GET", "/healthz").substr(0, 3));
  client.say(request("GET", "/healthz").substr(3));
  EXPECT_THAT(client.hear("ok\n"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace pop::popdistd
