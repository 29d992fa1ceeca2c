// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/async/message.h"

#include <gtest/gtest.h>

#include "common/base/random.h"

namespace popdist::async {
namespace {

Message example() {
  return {.announcements = {{"grad 1", 0x100000b00, 4096}, {std::string("\0\xff", 2), 0, 0}},
          .abort_message = AbortMessage{.status = pop::failedPrecondition("it is over"), .peer_rank = 3}};
}

void expectSame(const Message& one, const Message& other) {
  EXPECT_EQ(one.announcements, other.announcements);
  ASSERT_EQ(one.abort_message.has_value(), other.abort_message.has_value());
  if (!one.abort_message) return;
  EXPECT_EQ(one.abort_message->status, other.abort_message->status);
  EXPECT_EQ(one.abort_message->peer_rank, other.abort_message->peer_rank);
}

void expectComesBack(const Message& message) {
  const auto bytes = encode(message);
  ASSERT_TRUE(bytes.ok());
  const auto decoded = decode(bytes.value());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  expectSame(message, decoded.value());
}

TEST(Message, ComesBackAsItWas) {
  expectComesBack(example());
  expectComesBack({.announcements = example().announcements, .abort_message = {}});
  expectComesBack({.announcements = {}, .abort_message = example().abort_message});
  expectComesBack({.announcements = {{"digest", 1, UINT64_MAX - 1}}, .abort_message = {}});
}

TEST(Message, NothingToSayTakesNoBytes) {
  EXPECT_EQ(encode({}).value(), "");
  expectComesBack({});
}

TEST(Message, DamagedBytesAreAnErrorOrAMessageButNoCrash) {
  const std::string whole = encode(example()).value();
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(decode(whole.substr(0, bytes)).ok()) << bytes;
  pop::SplitMix64 random(17);
  int refused = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string damaged = whole;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    auto message = decode(damaged);
    refused += message.ok() ? 0 : 1;
    if (message.ok() && message->abort_message.has_value()) {
      EXPECT_FALSE(message->abort_message->status.ok());
      EXPECT_GE(message->abort_message->peer_rank, -1);
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace popdist::async
