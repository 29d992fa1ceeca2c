// SPDX-License-Identifier: Apache-2.0
// Damaged tokens, headers and cookies of requests: none of them gives the sender an identity. Seeded, so that
// a failure comes back.
#include <gtest/gtest.h>

#include <random>

#include "common/sys/random_name.h"
#include "popdistd/access/accounts.h"
#include "popdistd/web/cookies.h"

namespace pop::popdistd {
namespace {

std::string damaged(std::string text, std::mt19937& random) {
  for (std::size_t times = 1 + random() % 4; times > 0 && !text.empty(); --times) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 8);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 16));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

TEST(DaemonAccessFuzz, ADamagedTokenIsNobodys) {
  std::chrono::system_clock::time_point now{std::chrono::seconds(1'700'000'000)};
  Accounts accounts{
      {.own_user = "me", .clock = [&now] { return now; }, .random_name = [] { return sys::randomName(); }}};
  const std::string token = makeToken([] { return std::string("0123456789abcdef"); });
  v1::TokenRecord record;
  record.set_digest(digestOfSecret(token));
  record.mutable_info()->set_id(tokenId(record.digest()));
  record.mutable_info()->set_user("alice");
  record.mutable_info()->set_scope(v1::ROLE_SUBMIT);
  record.mutable_info()->mutable_expires()->set_seconds(4'000'000'000);
  accounts.setToken(record);
  std::mt19937 random(31);
  const std::string good = "Bearer " + token;
  for (int round = 0; round < 50'000; ++round) {
    now += std::chrono::minutes(2);  // guesses are not slowed down
    const std::string header = damaged(good, random);
    const std::optional<std::string> found = tokenOfAuthorization(header);
    if (found) {
      EXPECT_TRUE(looksLikeToken(*found)) << header;
    }
    const Result<Caller> caller =
        accounts.identify({.has_tls = true, .address = "h"}, {.authorization = header});
    if (caller.ok()) {
      EXPECT_EQ(found, token) << header;
    }
    if (header.empty()) continue;
    if (found != token) {
      EXPECT_FALSE(caller.ok()) << header;
    }
  }
}

TEST(DaemonAccessFuzz, NoiseIsNoToken) {
  std::mt19937 random(37);
  for (int round = 0; round < 20'000; ++round) {
    std::string noise(random() % 200, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    EXPECT_EQ(tokenOfAuthorization(noise), std::nullopt);
    EXPECT_EQ(tokenOfAuthorization("Bearer " + noise), std::nullopt);
  }
}

TEST(DaemonAccessFuzz, CookiesAreReadOrNone) {
  std::mt19937 random(41);
  const std::string good = "theme=dark; popdist_session=0123456789abcdef0123456789abcdef; a=\"b; c\"; ";
  for (int round = 0; round < 50'000; ++round) {
    const std::string header = damaged(good, random);
    const std::string session = sessionInCookies(header, false);
    EXPECT_LE(session.size(), 256U);
    EXPECT_EQ(session.find(';'), std::string::npos);
  }
}

}  // namespace
}  // namespace pop::popdistd
