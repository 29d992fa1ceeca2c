// SPDX-License-Identifier: Apache-2.0
// Damaged messages of ranks that give up: the receiver fails all the same, with a code that there is, and
// reads nothing that has not come. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/collectives/messages/exec/abort_message.h"

namespace popdist::exec {
namespace {

constexpr std::uint64_t kAbortMessageRounds = 50'000;

Header headOf(const std::vector<std::byte>& message) {
  Header header;
  std::memcpy(&header, message.data(), sizeof(header));
  return header;
}

std::string textOf(const std::vector<std::byte>& message) {
  const auto* const begin = reinterpret_cast<const char*>(message.data());
  return {begin + transport::kHeadBytes, begin + message.size()};
}

Failure someFailure(pop::SplitMix64& random) {
  std::string text(random.below(1500), '\0');
  for (char& letter : text) letter = static_cast<char>(random.next());
  return {.status = {static_cast<pop::Code>(1 + random.below(15)), std::move(text)},
          .peer_instance = static_cast<int>(random.below(5)) - 1,
          .peer_rank = static_cast<int>(random.below(5)),
          .heard = random.below(2) == 0};
}

TEST(AbortMessageFuzz, WhatIsSaidIsHeard) {
  for (std::uint64_t round = 0; round < kAbortMessageRounds; ++round) {
    pop::SplitMix64 random(round);
    const Failure said = someFailure(random);
    const std::vector<std::byte> message = encodeAbortMessage(7, said);
    const Header header = headOf(message);
    ASSERT_TRUE(isAbortMessage(header)) << round;
    ASSERT_EQ(header.message_bytes, textOf(message).size()) << round;
    const Failure heard = failureOf(header, textOf(message));
    ASSERT_EQ(heard.status.code(), said.status.code()) << round;
    ASSERT_EQ(heard.peer_instance, said.peer_instance) << round;
    ASSERT_EQ(heard.peer_rank, said.peer_rank) << round;
    ASSERT_EQ(heard.status.message().starts_with("rank 7 aborted the call: "), !said.heard) << round;
  }
}

TEST(AbortMessageFuzz, DamageIsNoMoreThanAnotherFailure) {
  for (std::uint64_t round = 0; round < kAbortMessageRounds; ++round) {
    pop::SplitMix64 random(round);
    std::vector<std::byte> message = encodeAbortMessage(7, someFailure(random));
    for (std::uint64_t times = 1 + random.below(8); times > 0; --times)
      message[random.below(transport::kHeadBytes)] = static_cast<std::byte>(random.next());
    const Header header = headOf(message);
    if (!isAbortMessage(header)) continue;
    ASSERT_LE(transport::kHeadBytes + header.message_bytes, transport::kMaxAbortMessageBytes) << round;
    const Failure heard = failureOf(header, textOf(message));
    ASSERT_FALSE(heard.status.ok()) << round;
    ASSERT_LE(static_cast<int>(heard.status.code()), static_cast<int>(pop::Code::kDataLoss)) << round;
    ASSERT_GE(heard.peer_rank, 0) << round;
    ASSERT_GE(heard.peer_instance, -1) << round;
  }
}

}  // namespace
}  // namespace popdist::exec
