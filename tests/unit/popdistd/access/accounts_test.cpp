// SPDX-License-Identifier: Apache-2.0
// A caller's identity: by its connection, its certificate, a token, a session, or V-IPU's key.
#include "popdistd/access/accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sys/random_name.h"
#include "common/tls/certificates.h"

namespace pop::popdistd {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

class AccountsTest : public ::testing::Test {
 protected:
  static Peer byTls(const std::string& user) {
    Peer peer{.has_tls = true, .address = "10.0.0.9", .port = "1"};
    if (!user.empty()) peer.uris = {"popdist:user:" + user};
    return peer;
  }
  static Peer bySocket(const std::string& user) { return {.unix_user = user}; }
  static Credentials bearer(const std::string& token) { return {.authorization = "Bearer " + token}; }

  void setRole(const std::string& user, v1::Role role, const std::string& vipu_key = {}) {
    v1::UserRecord record;
    record.mutable_info()->set_name(user);
    record.mutable_info()->set_role(role);
    if (!vipu_key.empty()) record.set_vipu_key_digest(digestOfSecret(vipu_key));
    accounts.setUser(record);
  }
  std::string makeTokenFor(const std::string& user, v1::Role scope, std::int64_t seconds_valid = 3600) {
    const std::string token = makeToken([] { return sys::randomName(); });
    v1::TokenRecord record;
    record.set_digest(digestOfSecret(token));
    record.mutable_info()->set_id(tokenId(record.digest()));
    record.mutable_info()->set_user(user);
    record.mutable_info()->set_scope(scope);
    record.mutable_info()->mutable_expires()->set_seconds(timestamp(now).seconds() + seconds_valid);
    accounts.setToken(record);
    return token;
  }
  v1::Role roleBy(const Peer& peer, const Credentials& said = {}) {
    const Result<Caller> caller = accounts.identify(peer, said);
    return caller.ok() ? caller.value().role : v1::ROLE_NONE;
  }

  std::chrono::system_clock::time_point now{seconds(1'700'000'000)};
  Accounts accounts{{.own_user = "popdistd",
                     .admins = {"root"},
                     .clock = [this] { return now; },
                     .random_name = [] { return sys::randomName(); }}};
};

TEST_F(AccountsTest, KnowUsersByTheirCertificates) {
  const Caller caller = accounts.identify(byTls("alice"), {}).value();
  EXPECT_EQ(caller.user, "alice");
  EXPECT_EQ(caller.role, v1::ROLE_SUBMIT);
  EXPECT_EQ(caller.known_by, v1::KNOWN_BY_CERTIFICATE);
  EXPECT_EQ(roleBy(byTls("root")), v1::ROLE_ADMIN);
  EXPECT_EQ(roleBy(byTls("popdistd")), v1::ROLE_ADMIN);
  setRole("alice", v1::ROLE_OPERATOR);
  EXPECT_EQ(roleBy(byTls("alice")), v1::ROLE_OPERATOR);
  setRole("root", v1::ROLE_VIEWER);
  EXPECT_EQ(roleBy(byTls("root")), v1::ROLE_ADMIN) << "popdistd's options say so";
}

TEST_F(AccountsTest, KnowNobodyByTlsAlone) {
  const Result<Caller> nobody = accounts.identify(byTls(""), {});
  EXPECT_EQ(nobody.code(), kUnauthenticated);
  EXPECT_THAT(nobody.status().message(), HasSubstr("--token-file"));
  Peer host = byTls("");
  host.names = {"h0"};
  EXPECT_EQ(accounts.identify(host, {}).code(), Code::kPermissionDenied);
}

TEST_F(AccountsTest, KnowUnixUsersByTheLocalSocket) {
  const Caller caller = accounts.identify(bySocket("bob"), {}).value();
  EXPECT_EQ(caller.user, "bob");
  EXPECT_EQ(caller.role, v1::ROLE_SUBMIT);
  EXPECT_EQ(caller.known_by, v1::KNOWN_BY_SOCKET);
  EXPECT_EQ(roleBy(bySocket("popdistd")), v1::ROLE_ADMIN);
}

TEST_F(AccountsTest, TakeWhoComesWithoutTlsForPopdistdsOwnUser) {
  const Caller caller = accounts.identify({.address = "127.0.0.1"}, {}).value();
  EXPECT_EQ(caller.user, "popdistd");
  EXPECT_EQ(caller.role, v1::ROLE_ADMIN);
}

TEST_F(AccountsTest, ATokenIsItsUserWithinItsScope) {
  const std::string token = makeTokenFor("alice", v1::ROLE_VIEWER);
  const Caller caller = accounts.identify(byTls(""), bearer(token)).value();
  EXPECT_EQ(caller.user, "alice");
  EXPECT_EQ(caller.role, v1::ROLE_VIEWER);
  EXPECT_EQ(caller.known_by, v1::KNOWN_BY_TOKEN);
  EXPECT_EQ(roleBy({.address = "127.0.0.1"}, bearer(token)), v1::ROLE_VIEWER) << "also where all are admins";
  EXPECT_EQ(roleBy(bySocket("popdistd"), bearer(token)), v1::ROLE_VIEWER);
}

TEST_F(AccountsTest, ATokenIsNeverAboveItsUsersRoleOfToday) {
  setRole("alice", v1::ROLE_ADMIN);
  const std::string token = makeTokenFor("alice", v1::ROLE_ADMIN);
  EXPECT_EQ(roleBy(byTls(""), bearer(token)), v1::ROLE_ADMIN);
  setRole("alice", v1::ROLE_VIEWER);
  EXPECT_EQ(roleBy(byTls(""), bearer(token)), v1::ROLE_VIEWER);
}

TEST_F(AccountsTest, ATokenEndsWhenItExpiresOrIsRemoved) {
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT, 60);
  now += seconds(59);
  EXPECT_EQ(roleBy(byTls(""), bearer(token)), v1::ROLE_SUBMIT);
  now += seconds(1);
  EXPECT_THAT(accounts.identify(byTls(""), bearer(token)).status().message(), HasSubstr("expired"));
  const std::string other = makeTokenFor("alice", v1::ROLE_SUBMIT);
  accounts.removeToken(tokenId(digestOfSecret(other)));
  EXPECT_EQ(roleBy(byTls(""), bearer(other)), v1::ROLE_NONE);
}

TEST_F(AccountsTest, AWrongTokenIsNobodyWhateverElseIsShown) {
  for (const std::string said : {"Bearer pop_0", "Basic YTpi", "pop_", "Bearer"})
    EXPECT_EQ(accounts.identify(byTls("root"), {.authorization = said}).code(), kUnauthenticated) << said;
  const std::string unknown = makeToken([] { return sys::randomName(); });
  EXPECT_EQ(roleBy({.address = "127.0.0.1"}, bearer(unknown)), v1::ROLE_NONE);
}

TEST_F(AccountsTest, KeepDigestsOfTokensOnly) {
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT);
  EXPECT_EQ(token.size(), 4 + 64U);
  EXPECT_NE(makeTokenFor("alice", v1::ROLE_SUBMIT), token);
  for (const v1::TokenRecord& each : accounts.tokens()) {
    EXPECT_EQ(each.SerializeAsString().find(token.substr(4, 16)), std::string::npos);
    EXPECT_EQ(each.digest().size(), 32U);
  }
}

TEST_F(AccountsTest, NoteWhenATokenWasUsed) {
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT);
  EXPECT_TRUE(accounts.takeUsed().empty());
  roleBy(byTls(""), bearer(token));
  roleBy(byTls(""), bearer(token));
  ASSERT_EQ(accounts.takeUsed().size(), 1U);
  now += seconds(30);
  roleBy(byTls(""), bearer(token));
  EXPECT_TRUE(accounts.takeUsed().empty()) << "to the minute";
  now += seconds(30);
  roleBy(byTls(""), bearer(token));
  EXPECT_EQ(accounts.takeUsed().size(), 1U);
}

TEST_F(AccountsTest, SlowGuessersDownByTheirAddress) {
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(roleBy(byTls(""), {.authorization = "Bearer x"}), v1::ROLE_NONE);
  const Result<Caller> refused = accounts.identify(byTls(""), {.authorization = "Bearer x"});
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("10.0.0.9"));
  Peer elsewhere = byTls("");
  elsewhere.address = "10.0.0.10";
  EXPECT_EQ(accounts.identify(elsewhere, {.authorization = "Bearer x"}).code(), kUnauthenticated);
  now += seconds(60);
  EXPECT_EQ(accounts.identify(byTls(""), {.authorization = "Bearer x"}).code(), kUnauthenticated);
}

// Login machines, NAT and forwards give many people one address.
TEST_F(AccountsTest, KnowRightSecretsAmongManyWrongOnesOfTheSameAddress) {
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT);
  setRole("bob", v1::ROLE_VIEWER, "key");
  const std::string session = accounts.beginSession(token, byTls("")).value();
  const Credentials wrong_key{.api_user_id = "bob", .api_access_key = "x"};
  for (int i = 0; i < 100; ++i) {
    for (const Credentials& wrong :
         {bearer(makeToken([] { return sys::randomName(); })), Credentials{.session = "x"}, wrong_key})
      EXPECT_FALSE(accounts.identify(byTls(""), wrong).ok());
    EXPECT_FALSE(accounts.beginSession("pop_x", byTls("")).ok());
    ASSERT_EQ(roleBy(byTls(""), bearer(token)), v1::ROLE_SUBMIT) << i;
  }
  EXPECT_EQ(roleBy(byTls(""), {.session = session}), v1::ROLE_SUBMIT);
  EXPECT_EQ(roleBy(byTls(""), {.api_user_id = "bob", .api_access_key = "key"}), v1::ROLE_VIEWER);
  EXPECT_EQ(roleBy(byTls("alice")), v1::ROLE_SUBMIT) << "a certificate is no guess";
  EXPECT_TRUE(accounts.beginSession(token, byTls("")).ok());
}

class CertificateTest : public AccountsTest {
 protected:
  CertificateTest() {
    now = std::chrono::system_clock::now();
    accounts.setAuthority(authority.certificate_pem);
  }
  static Peer shows(const std::string& pem) {
    Peer peer = byTls("alice");
    peer.certificate = pem;
    return peer;
  }

  const tls::KeyPair authority = tls::makeAuthority(100).value();
  const tls::KeyPair other = tls::makeAuthority(100).value();
  const tls::KeyPair alice = tls::makeUserCertificate(authority, "alice", 10).value();
};

TEST_F(CertificateTest, CountsUntilItExpiresAlsoOnAConnectionThatIsOpen) {
  const Caller caller = accounts.identify(shows(alice.certificate_pem), {}).value();
  now += hours(24 * 9);
  EXPECT_TRUE(accounts.today(caller).ok());
  now += hours(24);
  EXPECT_EQ(accounts.today(caller).code(), kUnauthenticated);
  EXPECT_EQ(accounts.identify(shows(alice.certificate_pem), {}).code(), kUnauthenticated);
  EXPECT_EQ(accounts.isStillGood(shows(alice.certificate_pem)).code(), kUnauthenticated);
}

TEST_F(CertificateTest, EndsWithItsAuthority) {
  const Caller caller = accounts.identify(shows(alice.certificate_pem), {}).value();
  accounts.setAuthority(authority.certificate_pem + other.certificate_pem);
  EXPECT_TRUE(accounts.today(caller).ok()) << "while the next one is brought in";
  accounts.setAuthority(other.certificate_pem);
  EXPECT_EQ(accounts.today(caller).code(), kUnauthenticated);
  EXPECT_EQ(accounts.identify(shows(alice.certificate_pem), {}).code(), kUnauthenticated);
  const std::string token = makeTokenFor("bob", v1::ROLE_VIEWER);
  EXPECT_EQ(roleBy(shows(alice.certificate_pem), bearer(token)), v1::ROLE_VIEWER) << "known by a token";
}

TEST_F(CertificateTest, EndsWithTheOneBetweenItAndTheAuthority) {
  const tls::KeyPair between = tls::makeIssuer(authority, 5).value();
  const tls::KeyPair below = tls::makeUserCertificate(between, "alice", 10).value();
  const Peer peer = shows(below.certificate_pem + between.certificate_pem);
  EXPECT_TRUE(accounts.isStillGood(peer).ok());
  EXPECT_FALSE(accounts.isStillGood(shows(below.certificate_pem)).ok());
  now += hours(24 * 6);
  EXPECT_FALSE(accounts.isStillGood(peer).ok());
}

TEST_F(AccountsTest, KnowTheUsualRoleOfWhoIsStoredNowhere) {
  Accounts closed{{.own_user = "popdistd", .admins = {"root"}, .usual_role = v1::ROLE_NONE}};
  EXPECT_EQ(closed.identify(byTls("alice"), {}).value().role, v1::ROLE_NONE);
  EXPECT_EQ(closed.identify(bySocket("alice"), {}).value().role, v1::ROLE_NONE);
  EXPECT_EQ(closed.identify(byTls("root"), {}).value().role, v1::ROLE_ADMIN);
  setRole("alice", v1::ROLE_NONE);
  EXPECT_EQ(roleBy(byTls("alice"), bearer(makeTokenFor("alice", v1::ROLE_SUBMIT))), v1::ROLE_NONE);
}

TEST(FailedLoginsTest, KeepLittleOfManyAddresses) {
  FailedLogins failed;
  const std::chrono::system_clock::time_point now{};
  for (int i = 0; i < 10'000; ++i) failed.failed("address " + std::to_string(i), now);
  EXPECT_LE(failed.addresses(), FailedLogins::kMostAddresses);
}

TEST_F(AccountsTest, KnowUsersByVipusKeys) {
  setRole("alice", v1::ROLE_SUBMIT, "key of alice");
  setRole("bob", v1::ROLE_SUBMIT);
  const Peer peer = byTls("");
  const Caller caller =
      accounts.identify(peer, {.api_user_id = "alice", .api_access_key = "key of alice"}).value();
  EXPECT_EQ(caller.user, "alice");
  EXPECT_EQ(caller.known_by, v1::KNOWN_BY_VIPU_KEY);
  EXPECT_EQ(roleBy(peer, {.api_user_id = "alice", .api_access_key = "another"}), v1::ROLE_NONE);
  EXPECT_EQ(roleBy(peer, {.api_user_id = "bob", .api_access_key = ""}), v1::ROLE_NONE) << "bob has none";
  EXPECT_EQ(roleBy(peer, {.api_user_id = "carol", .api_access_key = "key of alice"}), v1::ROLE_NONE);
  EXPECT_EQ(roleBy(byTls("root"), {.api_user_id = "alice", .api_access_key = "x"}), v1::ROLE_NONE);
}

TEST_F(AccountsTest, ASessionIsItsTokenForEightHours) {
  const std::string token = makeTokenFor("alice", v1::ROLE_VIEWER, 24 * 3600);
  const std::string session = accounts.beginSession(token, byTls("")).value();
  const Caller caller = accounts.identify(byTls(""), {.session = session}).value();
  EXPECT_EQ(caller.user, "alice");
  EXPECT_EQ(caller.role, v1::ROLE_VIEWER);
  EXPECT_EQ(caller.known_by, v1::KNOWN_BY_SESSION);
  now += hours(8);
  EXPECT_EQ(roleBy(byTls("root"), {.session = session}), v1::ROLE_NONE);
  EXPECT_EQ(accounts.beginSession("pop_x", byTls("")).code(), kUnauthenticated);
}

TEST_F(AccountsTest, WhoLogsInOftenLosesOwnSessionsOnly) {
  const std::string of_bob = accounts.beginSession(makeTokenFor("bob", v1::ROLE_SUBMIT), byTls("")).value();
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT);
  const std::string first = accounts.beginSession(token, byTls("")).value();
  std::string last;
  for (int i = 0; i < 1100; ++i) {
    now += std::chrono::milliseconds(1);
    last = accounts.beginSession(token, byTls("")).value();
  }
  EXPECT_EQ(roleBy(byTls(""), {.session = of_bob}), v1::ROLE_SUBMIT);
  EXPECT_EQ(roleBy(byTls(""), {.session = last}), v1::ROLE_SUBMIT);
  EXPECT_EQ(roleBy(byTls(""), {.session = first}), v1::ROLE_NONE);
}

TEST_F(AccountsTest, ASessionEndsWithItsTokenAndWhenItsUserLogsOut) {
  const std::string token = makeTokenFor("alice", v1::ROLE_SUBMIT);
  const std::string one = accounts.beginSession(token, byTls("")).value();
  const std::string other = accounts.beginSession(token, byTls("")).value();
  accounts.endSession(one);
  EXPECT_EQ(roleBy(byTls(""), {.session = one}), v1::ROLE_NONE);
  EXPECT_EQ(roleBy(byTls(""), {.session = other}), v1::ROLE_SUBMIT);
  accounts.removeToken(tokenId(digestOfSecret(token)));
  EXPECT_EQ(roleBy(byTls(""), {.session = other}), v1::ROLE_NONE);
}

}  // namespace
}  // namespace pop::popdistd
