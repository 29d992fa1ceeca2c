// SPDX-License-Identifier: Apache-2.0
// A real etcd as the guide sets it up, attacked with each kind of certificate that a cluster has.
#include "popdistd/etcd/forbidden_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "common/tls/certificates.h"
#include "common/tls/tls_try.h"
#include "popdistd/etcd_access.h"
#include "popdistd/leader/forbidden_client_watch.h"
#include "tests/testing/etcd_server.h"
#include "tests/testing/temp_dir.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Clock::time_point soon() {
  return Clock::now() + seconds(10);
}

class ForbiddenClientsTest : public ::testing::Test {
 protected:
  ForbiddenClientsTest() {
    write("ca.pem", etcds_.certificate_pem);
    write("users.pem", users_.certificate_pem);
    write("both.pem", etcds_.certificate_pem + users_.certificate_pem);
    write("host.pem", popdistd_.certificate_pem);
    write("host-key.pem", popdistd_.key_pem);
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(directory_ / name) << text; }
  testing::EtcdTls tls(const std::string& trusted = "ca.pem") const {
    return {.directory = directory_.path(), .trusted = trusted};
  }
  static tls::KeyPair hostOf(const tls::KeyPair& authority) {
    return tls::makeHostCertificate(authority, {"127.0.0.1", "localhost"}, 10).value();
  }
  EtcdClient clientWith(const std::string& address, const tls::KeyPair& pair) const {
    return EtcdClient({.addresses = {address},
                       .tls = tls::tlsFilesOf(etcds_.certificate_pem, pair.certificate_pem, pair.key_pem)});
  }
  Status readsBy(const std::string& address, const tls::KeyPair& pair) const {
    return clientWith(address, pair)
        .read({"/popdist/leader", {}}, 1, Clock::now() + milliseconds(300))
        .status();
  }
  static bool isAnsweredAt(const std::string& address, const tls::KeyPair& pair) {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{
        .sin_family = AF_INET,
        .sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)))),
        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    const std::optional<tls::KeyPair> shows = pair.key_pem.empty() ? std::nullopt : std::optional(pair);
    return tls::isAnswered(std::move(socket), shows, seconds(5));
  }
  tls::KeyPair ofJob() const {
    tls::KeyPair job = tls::makeJobCertificate(issuer_, {1, "id", "alice", {"localhost"}}, 1).value();
    job.certificate_pem += issuer_.certificate_pem;
    return job;
  }
  std::vector<ForbiddenClient> forbidden() const {
    return {
        {.who = "a client without a certificate"}, {"a host's", hostOf(users_)}, {"the issuer's", issuer_}};
  }
  /// The clients that popdistd forbids by its options.
  Result<std::vector<ForbiddenClient>> loadForbidden() const {
    DaemonOptions options;
    options.etcd.tls_directory = directory_.path();
    options.tls_directory = directory_ / "tls";
    return forbiddenClientsOf(options);
  }
  void writeTls(const tls::KeyPair& authority, const tls::KeyPair& host) {
    std::filesystem::create_directory(directory_ / "tls");
    write("tls/ca.pem", authority.certificate_pem);
    write("tls/host.pem", host.certificate_pem);
    write("tls/host-key.pem", host.key_pem);
    std::filesystem::permissions(directory_ / "tls/host-key.pem", std::filesystem::perms::owner_all);
  }
  Status refusesForbiddenClients(const testing::EtcdServer& server) const {
    EtcdClient client = clientWith(server.address(), popdistd_);
    return checkRefuses(client, forbidden(), soon());
  }

  const testing::TempDir directory_;
  const tls::KeyPair users_ = tls::makeAuthority(10).value();
  const tls::KeyPair issuer_ = tls::makeIssuer(users_, 10).value();
  const tls::KeyPair etcds_ = tls::makeEtcdAuthority(10).value();
  const tls::KeyPair popdistd_ = hostOf(etcds_);
};

TEST_F(ForbiddenClientsTest, NobodysCertificateReadsEtcdButPopdistds) {
  const testing::EtcdServer server(0, tls());
  EXPECT_TRUE(readsBy(server.address(), popdistd_).ok());
  EXPECT_TRUE(isAnsweredAt(server.peerAddress(), popdistd_)) << "else a refusal there means nothing";
  for (const tls::KeyPair& pair : {tls::makeUserCertificate(users_, "root", 10).value(), hostOf(users_),
                                   ofJob(), issuer_, tls::KeyPair{}}) {
    SCOPED_TRACE(pair.certificate_pem);
    EXPECT_EQ(readsBy(server.address(), pair).code(), Code::kUnavailable);
    EXPECT_FALSE(isAnsweredAt(server.peerAddress(), pair));
  }
  EXPECT_TRUE(refusesForbiddenClients(server).ok()) << refusesForbiddenClients(server).message();
}

TEST_F(ForbiddenClientsTest, AnEtcdThatLetsThemInIsFoundOut) {
  const auto found = [this](const testing::EtcdTls& wrong, const std::string& who) {
    const testing::EtcdServer server(0, wrong);
    const Status refuses = refusesForbiddenClients(server);
    EXPECT_EQ(refuses.code(), Code::kFailedPrecondition);
    EXPECT_THAT(refuses.message(), HasSubstr(who));
  };
  found(tls("both.pem"), "a host's");
  testing::EtcdTls anybody = tls();
  anybody.clients_show = false;
  found(anybody, "without a certificate");
  testing::EtcdTls open_to_peers = tls();
  open_to_peers.peers_have_tls = false;
  found(open_to_peers, "http://127.0.0.1");
}

TEST_F(ForbiddenClientsTest, AnEtcdThatBeginsToLetThemInEndsPopdistd) {
  testing::EtcdServer server(0, tls());
  EtcdClient client = clientWith(server.address(), popdistd_);
  std::promise<Status> lets_in;
  ForbiddenClientWatch watch(
      client, [this] { return forbidden(); }, [&](const Status& why) { lets_in.set_value(why); },
      milliseconds(50));
  EXPECT_TRUE(watch.look().ok());
  server.kill();
  server.setTls(tls("both.pem"));
  server.start();
  std::future<Status> told = lets_in.get_future();
  ASSERT_EQ(told.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_EQ(told.get().code(), Code::kFailedPrecondition);
}

TEST_F(ForbiddenClientsTest, ACertificateThatIsRenewedIsWhatIsTriedNext) {
  const testing::EtcdServer server(0, tls("both.pem"));
  EtcdClient client = clientWith(server.address(), popdistd_);
  const tls::KeyPair others = tls::makeAuthority(10).value();
  writeTls(others, hostOf(others));
  std::promise<Status> lets_in;
  ForbiddenClientWatch watch(
      client, [this] { return loadForbidden(); }, [&](const Status& why) { lets_in.set_value(why); },
      milliseconds(50));
  EXPECT_TRUE(watch.look().ok());
  writeTls(users_, hostOf(users_));
  std::future<Status> told = lets_in.get_future();
  ASSERT_EQ(told.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_EQ(told.get().code(), Code::kFailedPrecondition);
}

// An etcd that refuses an invalid certificate proves nothing: no popdistd begins or ends to lead by that.
TEST_F(ForbiddenClientsTest, ACertificateThatDoesNotCountIsNoProof) {
  const testing::EtcdServer server(0, tls());
  EtcdClient client = clientWith(server.address(), popdistd_);
  ForbiddenClientWatch watch(
      client, [this] { return loadForbidden(); }, [](const Status& why) { ADD_FAILURE() << why.message(); },
      milliseconds(5));
  const tls::KeyPair host = hostOf(users_);
  const auto expectNoProof = [&](const tls::KeyPair& pair, const std::string& why) {
    writeTls(users_, pair);
    const Status refuses = watch.look();
    EXPECT_EQ(refuses.code(), Code::kUnavailable) << why;
    EXPECT_THAT(refuses.message(), HasSubstr(why));
  };
  expectNoProof(tls::makeHostCertificate(users_, {"127.0.0.1"}, -2).value(), "host.pem expired");
  expectNoProof({host.certificate_pem, hostOf(users_).key_pem}, "host-key.pem");
  expectNoProof({"", host.key_pem}, "host.pem");
  writeTls(users_, host);
  EXPECT_TRUE(watch.look().ok()) << watch.look().message();
}

// An etcd that is away has proved nothing: popdistd may not lead by it.
TEST_F(ForbiddenClientsTest, AnEtcdThatIsNotThereHasRefusedNobody) {
  EtcdClient none = clientWith("127.0.0.1:1", popdistd_);
  EXPECT_EQ(checkRefuses(none, forbidden(), Clock::now() + milliseconds(200)).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace pop::popdistd
