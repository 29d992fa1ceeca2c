// SPDX-License-Identifier: Apache-2.0
// Who knows the job's key is let in, and nobody else; heads cannot be changed, left out or repeated.
#include "libpopdist/collectives/messages/transport/tcp/handshake.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace popdist::transport {
namespace {

template <std::size_t kSize>
std::array<std::byte, kSize> countingBytes() {
  std::array<std::byte, kSize> bytes;
  for (std::size_t i = 0; i < kSize; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

std::string hex(const Tag& tag) {
  std::string text;
  for (const std::byte byte : tag) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<unsigned>(byte) / 16];
    text += kDigits[std::to_integer<unsigned>(byte) % 16];
  }
  return text;
}

// From the authors' vectors for SipHash-2-4-128 (vectors.h): key 00 … 0f, message 00, 01, ….
TEST(SipHash, GivesThePublishedTags) {
  const auto message = countingBytes<63>();
  const auto tagOfFirst = [&](std::size_t bytes) {
    return hex(sipHash(countingBytes<16>(), std::span(message).first(bytes)));
  };
  EXPECT_EQ(tagOfFirst(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(tagOfFirst(1), "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(tagOfFirst(15), "5493e99933b0a8117e08ec0f97cfc3d9");
  EXPECT_EQ(tagOfFirst(63), "5150d1772f50834a503e069a973fbd7c");
}

const Key kJob = countingBytes<16>();
const Key kOtherJob{};
const Introduction kIntroduction{.group = 7, .from = 1, .to = 70'000, .stream = 3, .nonce = randomNonce()};

TEST(Handshake, SucceedsBetweenMembersOfAJob) {
  const IntroductionBytes introduction = encodeIntroduction(kJob, kIntroduction);
  EXPECT_EQ(parseIntroduction(kJob, introduction), kIntroduction);
  const ReplyBytes reply = encodeReply(kJob, introduction, randomNonce());
  EXPECT_TRUE(isReplyTo(kJob, introduction, reply));
  EXPECT_TRUE(isProof(kJob, introduction, reply, encodeProof(kJob, introduction, reply)));
  const ConnectionKeys keys = connectionKeys(kJob, introduction, reply);
  EXPECT_NE(keys.from_dialler, keys.from_acceptor);
}

TEST(Handshake, RefusesWhoHasAnotherKey) {
  const IntroductionBytes introduction = encodeIntroduction(kJob, kIntroduction);
  EXPECT_EQ(parseIntroduction(kOtherJob, introduction), std::nullopt);
  const ReplyBytes reply = encodeReply(kOtherJob, introduction, randomNonce());
  EXPECT_FALSE(isReplyTo(kJob, introduction, reply));
  EXPECT_FALSE(isProof(kJob, introduction, reply, encodeProof(kOtherJob, introduction, reply)));
}

// Who has recorded another handshake has all of its tags.
TEST(Handshake, CannotBePlayedAgain) {
  const IntroductionBytes introduction = encodeIntroduction(kJob, kIntroduction);
  const ReplyBytes old_reply = encodeReply(kJob, introduction, randomNonce());
  const ProofBytes old_proof = encodeProof(kJob, introduction, old_reply);
  const ReplyBytes reply = encodeReply(kJob, introduction, randomNonce());
  EXPECT_FALSE(isProof(kJob, introduction, reply, old_proof));
  Introduction again = kIntroduction;
  again.nonce = randomNonce();
  EXPECT_FALSE(isReplyTo(kJob, encodeIntroduction(kJob, again), old_reply));
  Tag tag_of_reply;
  std::copy_n(reply.begin() + sizeof(Nonce), tag_of_reply.size(), tag_of_reply.begin());
  EXPECT_FALSE(isProof(kJob, introduction, reply, tag_of_reply));
}

TEST(Handshake, NoticesEveryChangedBit) {
  const IntroductionBytes introduction = encodeIntroduction(kJob, kIntroduction);
  const ReplyBytes reply = encodeReply(kJob, introduction, randomNonce());
  for (std::size_t bit = 0; bit < 8 * introduction.size(); ++bit) {
    IntroductionBytes changed = introduction;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_EQ(parseIntroduction(kJob, changed), std::nullopt) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * reply.size(); ++bit) {
    ReplyBytes changed = reply;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(isReplyTo(kJob, introduction, changed)) << bit;
  }
}

using HeadBytes = std::array<std::byte, kHeadBytes>;

TEST(HeadSeal, PassesHeadsInTheirOrder) {
  HeadSeal sender(kJob);
  HeadSeal receiver(kJob);
  for (int turn = 0; turn < 5; ++turn) {
    HeadBytes head = countingBytes<kHeadBytes>();
    sender.seal(head);
    EXPECT_TRUE(receiver.isGenuine(head));
  }
}

TEST(HeadSeal, NoticesEveryChangedBit) {
  HeadBytes head = countingBytes<kHeadBytes>();
  HeadSeal(kJob).seal(head);
  for (std::size_t bit = 0; bit < 8 * head.size(); ++bit) {
    HeadBytes changed = head;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(HeadSeal(kJob).isGenuine(changed)) << bit;
  }
}

TEST(HeadSeal, NoticesHeadsThatAreRepeatedLeftOutOrForeign) {
  HeadSeal sender(kJob);
  HeadBytes first = countingBytes<kHeadBytes>();
  HeadBytes second = first;
  sender.seal(first);
  sender.seal(second);
  EXPECT_FALSE(HeadSeal(kJob).isGenuine(second));
  EXPECT_FALSE(HeadSeal(kOtherJob).isGenuine(first));
  HeadSeal receiver(kJob);
  EXPECT_TRUE(receiver.isGenuine(first));
  EXPECT_FALSE(receiver.isGenuine(first));
}

}  // namespace
}  // namespace popdist::transport
