// SPDX-License-Identifier: Apache-2.0
// A network's input to the agent service before it knows the peer: noise, and damaged handshakes. Nothing of
// it gets in, nor makes the service keep or send much. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

#include "tests/testing/test_pairs.h"
#include "tests/testing/tls_conversation.h"
#include "tests/testing/tls_side.h"

namespace pop::wire {
namespace {

using testing::TestPairs;
using Side = testing::TlsSide;

constexpr int kTlsRounds = 2000;

TEST(TlsFuzz, LetsNobodyInWhoseHandshakeIsDamaged) {
  const TestPairs pairs;
  const auto client_context = pairs.client();
  const auto server_context = pairs.server();
  std::mt19937 random(11);
  for (int round = 0; round < kTlsRounds; ++round) {
    Side client{client_context->connectedTo("h0"), {}, {}, {}};
    Side server{server_context->accepted(), {}, {}, {}};
    client.cipher->send("secret", client.outgoing);
    if (random() % 2 == 0) {  // then the second flight
      server.take(std::exchange(client.outgoing, {}));
      client.take(std::exchange(server.outgoing, {}));
    }
    std::string flight = std::exchange(client.outgoing, {});
    const std::string whole = flight;
    for (std::size_t times = 1 + random() % 4; times > 0; --times)
      flight[random() % flight.size()] ^= static_cast<char>(1U << random() % 8);
    server.take(flight);
    if (flight != whole) {
      EXPECT_EQ(server.heard, "") << round;
    }
    EXPECT_LT(server.outgoing.size(), 10'000U) << round;
  }
}

TEST(TlsFuzz, SendsNothingToAServiceWhoseHandshakeIsDamaged) {
  const TestPairs pairs;
  const auto client = pairs.client();
  const auto server = pairs.server();
  std::mt19937 random(13);
  for (int round = 0; round < kTlsRounds; ++round) {
    testing::TlsConversation both(*client, *server);
    both.client.cipher->send("secret", both.client.outgoing);
    both.server.take(std::exchange(both.client.outgoing, {}));
    std::string& flight = both.server.outgoing;
    const std::string whole = flight;
    for (std::size_t times = 1 + random() % 4; times > 0; --times)
      flight[random() % flight.size()] ^= static_cast<char>(1U << random() % 8);
    flight[2] = whole[2];  // the record's version, which no peer reads (RFC 8446, 5.1)
    if (flight == whole) continue;
    both.carry();
    EXPECT_EQ(both.server.heard, "") << round;
  }
}

TEST(TlsFuzz, EndsAtNoise) {
  const TestPairs pairs;
  const auto context = pairs.server();
  std::mt19937 random(12);
  for (int round = 0; round < kTlsRounds; ++round) {
    Side server{context->accepted(), {}, {}, {}};
    std::string noise;
    for (std::size_t left = 1 + random() % 3000; left > 0; --left) noise += static_cast<char>(random());
    if (round % 2 == 0) noise.replace(0, 1, "\x16");
    server.take(noise);
    EXPECT_FALSE(server.cipher->established());
    EXPECT_EQ(server.heard, "");
  }
}

}  // namespace
}  // namespace pop::wire
