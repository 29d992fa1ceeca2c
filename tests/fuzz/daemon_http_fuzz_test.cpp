// SPDX-License-Identifier: Apache-2.0
// Noise and damaged requests at the daemon's HTTP, as a network may bring them. Each gets an answer or an
// end, and the next one is served. Seeded, so that a failure comes back.
#include <gmock/gmock.h>

#include <random>

#include "common/wire/message_json.h"
#include "popdistd/web/query.h"
#include "tests/unit/popdistd/web/web_fixture.h"

namespace pop::popdistd {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DaemonHttpFuzz : public WebTest {};

std::string damagedRequest(std::string text, std::mt19937& random) {
  for (std::size_t times = 1 + random() % 5; times > 0 && !text.empty(); --times) {
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

TEST_F(DaemonHttpFuzz, EachRequestIsAnsweredOrEnds) {
  serve({.head_timeout = std::chrono::milliseconds(50), .body_timeout = std::chrono::milliseconds(50)});
  const std::string json = "Content-Type: application/json\r\n";
  const std::vector<std::string> good = {
      request("GET", "/v1/jobs?user=a%20b&state=JOB_QUEUED&page_size=3"),
      request("GET", "/v1/jobs/12"),
      request("POST", "/v1/Submit", R"({"name": "train", "spec": {"variables": {"A": "b"}}})", json),
      request("POST", "/v1/Get", R"({"id": "7"})", json + "Expect: 100-continue\r\n"),
      request("HEAD", "/v1/watch?since=1", "", "Last-Event-ID: 4\r\n"),
      "POST /v1/About HTTP/1.1\r\nHost: localhost\r\n" + json +
          "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  };
  std::mt19937 random(17);
  for (int round = 0; round < 500; ++round) {
    RawClient client(port);
    ASSERT_TRUE(client.connected());
    client.say(damagedRequest(good[random() % good.size()], random));
    EXPECT_THAT(client.hear(), AnyOf("", StartsWith("HTTP/1."))) << round;
    EXPECT_TRUE(client.ended()) << round;
  }
  EXPECT_THAT(ask("GET", "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(DaemonHttpFuzz, NoiseIsNothing) {
  serve({.head_timeout = std::chrono::milliseconds(50)});
  std::mt19937 random(19);
  for (int round = 0; round < 300; ++round) {
    std::string noise(1 + random() % 2000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    RawClient client(port);
    client.say(noise);
    EXPECT_THAT(client.hear(), AnyOf("", StartsWith("HTTP/1.1 4"))) << round;
  }
  EXPECT_TRUE(loop.run([this] { return api.calls.empty(); }));
}

TEST(DaemonJsonFuzz, IsReadOrRefused) {
  const std::string good =
      R"({"request_id": "a", "name": "train", "held": true, "priority": -3, "num_hosts": 2, "lost_after_ms": "600000",
          "spec": {"hosts": [{"name": "h0", "slots": 4}], "programs": [{"words": ["ls", "-l"]}],
                   "binding": {"mode": "BIND_COMPACT", "explicit_cpus": ["0-3"]}, "variables": {"A": "b"},
                   "host_subnet": "10.0.0.0/8", "kill_grace_ms": 5000}})";
  v1::SubmitRequest whole;
  ASSERT_TRUE(wire::fromJson(good, whole).ok()) << wire::fromJson(good, whole).message();
  std::mt19937 random(23);
  for (int round = 0; round < 20'000; ++round) {
    v1::SubmitRequest request;
    const Status read = wire::fromJson(damagedRequest(good, random), request);
    if (!read.ok()) {
      EXPECT_EQ(read.code(), Code::kInvalidArgument);
      continue;
    }
    const Result<std::string> printed = wire::toJson(request);
    ASSERT_TRUE(printed.ok()) << printed.status().message();
    v1::SubmitRequest again;
    ASSERT_TRUE(wire::fromJson(printed.value(), again).ok()) << printed.value();
    EXPECT_EQ(again.SerializeAsString().size(), request.SerializeAsString().size());
  }
}

TEST(DaemonQueryFuzz, IsReadOrRefused) {
  std::mt19937 random(29);
  for (int round = 0; round < 20'000; ++round) {
    const std::string query = damagedRequest("user=al%20ice+b&page_size=30&state=JOB_QUEUED&x=%ff", random);
    const Result<std::int64_t> number = queryNumber(query, "page_size", 7);
    EXPECT_TRUE(!number.ok() || number.value() >= 0) << query;
    const std::optional<std::string> user = queryValue(query, "user");
    EXPECT_TRUE(!user || user->size() <= query.size());
  }
}

}  // namespace
}  // namespace pop::popdistd
