// SPDX-License-Identifier: Apache-2.0
// Browsers: who logs in with a token, and what other sites' pages cannot do.
#include <gmock/gmock.h>

#include <ctime>

#include "popdistd/web/cookies.h"
#include "tests/unit/popdistd/web/web_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class LoginTest : public WebTest {
 protected:
  LoginTest() { serve(); }

  std::string addToken(const std::string& user) {
    const std::string token = makeToken([] { return sys::randomName(); });
    v1::TokenRecord record;
    record.set_digest(digestOfSecret(token));
    record.mutable_info()->set_id(tokenId(record.digest()));
    record.mutable_info()->set_user(user);
    record.mutable_info()->set_scope(v1::ROLE_SUBMIT);
    record.mutable_info()->mutable_expires()->set_seconds(std::time(nullptr) + 3600);
    accounts.setToken(record);
    return token;
  }
  std::string login(const std::string& token) const {
    return ask("POST", "/login", R"({"token": ")" + token + "\"}");
  }
  /// "Cookie: popdist_session=…\r\n"
  static std::string cookieIn(const std::string& answer) {
    const std::size_t begin = answer.find("popdist_session=");
    if (begin == std::string::npos) return "";
    return "Cookie: a=b; " + answer.substr(begin, answer.find(';', begin) - begin) + "\r\n";
  }
  std::vector<std::string> calls() {
    return loop.run([this] { return api.calls; });
  }
  static constexpr const char* kJson = "Content-Type: application/json\r\n";
};

TEST_F(LoginTest, ATokenInTheHeaderIsItsUser) {
  const std::string token = addToken("alice");
  EXPECT_THAT(ask("GET", "/v1/jobs", "", "Authorization: Bearer " + token + "\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask("GET", "/v1/jobs", "", "Authorization: Bearer pop_x\r\n"),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Bearer pop_")));
  EXPECT_THAT(calls(), ElementsAre("alice list "));
}

TEST_F(LoginTest, GivesACookieThatScriptsAndOtherSitesDoNotGet) {
  const std::string answer = login(addToken("alice"));
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("HttpOnly"), HasSubstr("SameSite=Strict"),
                            HasSubstr("Max-Age=28800"), Not(HasSubstr("pop_"))));
  EXPECT_THAT(ask("GET", "/v1/jobs", "", cookieIn(answer)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(calls(), ElementsAre("alice list "));
  EXPECT_THAT(cookieOfSession("x", true), HasSubstr("; Secure"));
}

TEST_F(LoginTest, IsRefusedToAWrongToken) {
  EXPECT_THAT(login("pop_wrong"), AllOf(StartsWith("HTTP/1.1 401"), Not(HasSubstr("Set-Cookie"))));
  EXPECT_THAT(ask("POST", "/login", "{\"token\": 3"), StartsWith("HTTP/1.1 400"));
  for (int i = 0; i < 20; ++i) login("pop_wrong");
  EXPECT_THAT(login("pop_wrong"), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(login(addToken("alice")), StartsWith("HTTP/1.1 200"));
}

TEST_F(LoginTest, APostWithACookieHasToComeFromOurPage) {
  const std::string cookie = cookieIn(login(addToken("alice")));
  EXPECT_THAT(ask("POST", "/v1/Hold", R"({"id": "7"})", kJson + cookie), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(calls(), IsEmpty());
  EXPECT_THAT(ask("POST", "/v1/Hold", R"({"id": "7"})", kJson + cookie + "X-Popdist: 1\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(calls(), ElementsAre("alice hold job 7"));
}

TEST_F(LoginTest, LoggingOutEndsTheSession) {
  const std::string cookie = cookieIn(login(addToken("alice")));
  EXPECT_THAT(ask("POST", "/logout", "", kJson + cookie), StartsWith("HTTP/1.1 403")) << "of another site";
  EXPECT_THAT(ask("POST", "/logout", "", kJson + cookie + "X-Popdist: 1\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Max-Age=0")));
  EXPECT_THAT(ask("GET", "/v1/jobs", "", cookie),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("log in again"), HasSubstr("Max-Age=0")));
}

TEST_F(LoginTest, ACookieThatMeansNothingIsNobodysAlsoWhereAllAreAdmins) {
  EXPECT_THAT(ask("GET", "/v1/jobs", "", "Cookie: popdist_session=\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ask("GET", "/v1/jobs", "", "Cookie: other=x\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(calls(), ElementsAre("me list "));
}

TEST_F(LoginTest, MetricsNameAllocationsToOperatorsOnly) {
  const auto metrics = [this](const std::string& user) {
    return ask("GET", "/metrics", "", "Authorization: Bearer " + addToken(user) + "\r\n");
  };
  EXPECT_THAT(metrics("alice"), AllOf(HasSubstr("popdist_up 1"), Not(HasSubstr("team"))));
  v1::UserRecord mallory;
  mallory.mutable_info()->set_name("mallory");
  accounts.setUser(mallory);
  EXPECT_THAT(metrics("mallory"), StartsWith("HTTP/1.1 403"));
}

// Over TLS, a browser takes it from this very host only: another of the same domain cannot plant one.
TEST(SessionCookie, IsOfThisHostAloneOverTls) {
  EXPECT_THAT(cookieOfSession("abc", true), AllOf(StartsWith("__Host-popdist_session=abc; Path=/;"),
                                                  HasSubstr("Secure"), Not(HasSubstr("Domain"))));
  EXPECT_EQ(sessionInCookies("popdist_session=planted; __Host-popdist_session=abc", true), "abc");
  EXPECT_EQ(sessionInCookies("popdist_session=planted", true), "");
  EXPECT_EQ(sessionInCookies("popdist_session=abc", false), "abc");
}

}  // namespace
}  // namespace pop::popdistd
