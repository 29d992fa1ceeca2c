// SPDX-License-Identifier: Apache-2.0
// A network's input to a listening group: noise, and handshakes and heads that are damaged, cut, repeated or
// out of order. Only whole and genuine ones get through. Seeded, so that a failure comes back.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/transport/tcp/reception.h"

namespace popdist::transport {
namespace {

constexpr std::uint64_t kParserRounds = 50'000;
constexpr std::uint64_t kPendingRounds = 3'000;
constexpr Key kJob{std::byte{3}, std::byte{1}, std::byte{4}};

void fill(std::span<std::byte> bytes, pop::SplitMix64& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
}

// Damages some bytes; false if they are as they were.
bool damage(std::span<std::byte> bytes, pop::SplitMix64& random) {
  const std::vector<std::byte> before(bytes.begin(), bytes.end());
  for (std::uint64_t times = 1 + random.below(4); times > 0; --times) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(3)) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1U << random.below(8));
        break;
      case 1:
        fill(bytes.subspan(at), random);
        break;
      default:
        std::rotate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end());
    }
  }
  return !std::equal(before.begin(), before.end(), bytes.begin());
}

Introduction someIntroduction(pop::SplitMix64& random) {
  Introduction introduction{static_cast<std::uint32_t>(random.below(3)), 0, 1, 0};
  fill(introduction.nonce, random);
  return introduction;
}

TEST(TcpFuzz, DamagedHandshakesAndHeadsAreRefused) {
  for (std::uint64_t round = 0; round < kParserRounds; ++round) {
    pop::SplitMix64 random(round);
    IntroductionBytes introduction = encodeIntroduction(kJob, someIntroduction(random));
    ReplyBytes reply = encodeReply(kJob, introduction, Nonce{});
    ProofBytes proof = encodeProof(kJob, introduction, reply);
    std::array<std::byte, kHeadBytes> head{};
    fill(head, random);
    HeadSeal(kJob).seal(head);
    if (damage(proof, random)) {
      ASSERT_FALSE(isProof(kJob, introduction, reply, proof)) << round;
    }
    if (damage(reply, random)) {
      ASSERT_FALSE(isReplyTo(kJob, introduction, reply)) << round;
    }
    if (damage(introduction, random)) {
      ASSERT_EQ(parseIntroduction(kJob, introduction), std::nullopt) << round;
    }
    if (damage(head, random)) {
      ASSERT_FALSE(HeadSeal(kJob).isGenuine(head)) << round;
    }
  }
}

// A pending connection that sends what it likes, in pieces, and reads what it is told.
void sendInPieces(int socket, std::span<const std::byte> bytes, Reception& reception,
                  pop::SplitMix64& random) {
  while (!bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(1 + random.below(60), bytes.size());
    if (::send(socket, bytes.data(), piece, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
    bytes = bytes.subspan(piece);
    if (random.below(2) == 0) reception.receive();
  }
}

TEST(TcpFuzz, PendingConnectionsGetInOnlyWithAWholeHandshake) {
  SocketAddress address = SocketAddress::parse("127.0.0.1", 0).value();
  pop::sys::Fd listener = listenOn(address).value();
  SocketSleeper sleeper;
  int admitted = 0;
  Reception reception(kJob, std::move(listener), sleeper,
                      [&](const Introduction& introduction, AcceptedStream) {
                        EXPECT_LT(introduction.group, 3U);
                        ++admitted;
                        return true;
                      });
  for (std::uint64_t round = 0; round < kPendingRounds; ++round) {
    pop::SplitMix64 random(round);
    const pop::sys::Fd socket =
        beginConnecting(SocketAddress::parse("127.0.0.1", 0).value(), address).value();
    IntroductionBytes introduction = encodeIntroduction(kJob, someIntroduction(random));
    if (random.below(2) == 0 && damage(introduction, random)) {
      sendInPieces(socket.get(), introduction, reception, random);
      continue;
    }
    sendInPieces(socket.get(), introduction, reception, random);
    ReplyBytes reply{};
    while (::recv(socket.get(), reply.data(), reply.size(), MSG_DONTWAIT) < 0) reception.receive();
    ASSERT_TRUE(isReplyTo(kJob, introduction, reply)) << round;
    ProofBytes proof = encodeProof(kJob, introduction, reply);
    const bool damaged = random.below(2) == 0 && damage(proof, random);
    const int before = admitted;
    sendInPieces(socket.get(), proof, reception, random);
    char byte = 0;
    while (admitted == before && ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
      reception.receive();
    ASSERT_EQ(admitted, before + (damaged ? 0 : 1)) << round;
  }
  EXPECT_GT(admitted, 0);
}

}  // namespace
}  // namespace popdist::transport
