// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/handshake.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "common/base/check.h"

namespace popdist::transport {
namespace {

// The first bytes of an introduction: protocol and version.
constexpr std::array<char, 8> kMagic{'p', 'o', 'p', 't', 'c', 'p', '0', '1'};
constexpr std::size_t kTagBytes = sizeof(Tag);

// The purpose of a tag, so that no tag can serve as another.
enum class Purpose : std::uint8_t { kIntroduction = 1, kReply, kProof, kFromDialler, kFromAcceptor };

Tag tagOf(const Key& key, Purpose purpose, std::span<const std::byte> one,
          std::span<const std::byte> other = {}) {
  std::array<std::byte, 1 + sizeof(IntroductionBytes) + sizeof(ReplyBytes)> message;
  message[0] = static_cast<std::byte>(purpose);
  std::copy(one.begin(), one.end(), message.begin() + 1);
  std::copy(other.begin(), other.end(), message.begin() + 1 + static_cast<std::ptrdiff_t>(one.size()));
  return sipHash(key, std::span(message).first(1 + one.size() + other.size()));
}

void putU32(std::byte* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint32_t getU32(const std::byte* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(from[i]) << (8 * i);
  return value;
}

constexpr std::size_t kNumbersAt = sizeof(kMagic);
constexpr std::size_t kNonceAt = kNumbersAt + 4 * sizeof(std::uint32_t);
constexpr std::size_t kIntroductionTagAt = kNonceAt + sizeof(Nonce);
static_assert(kIntroductionTagAt + kTagBytes == sizeof(IntroductionBytes));

}  // namespace

Nonce randomNonce() {
  Nonce nonce;
  POP_CHECK(::getrandom(nonce.data(), nonce.size(), 0) == static_cast<ssize_t>(nonce.size()));
  return nonce;
}

IntroductionBytes encodeIntroduction(const Key& job, const Introduction& introduction) {
  IntroductionBytes bytes;
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  std::size_t at = kNumbersAt;
  for (const std::uint32_t number :
       {introduction.group, introduction.from, introduction.to, introduction.stream}) {
    putU32(&bytes[at], number);
    at += sizeof(number);
  }
  std::copy(introduction.nonce.begin(), introduction.nonce.end(), bytes.begin() + kNonceAt);
  const Tag tag = tagOf(job, Purpose::kIntroduction, std::span(bytes).first(kIntroductionTagAt));
  std::copy(tag.begin(), tag.end(), bytes.begin() + kIntroductionTagAt);
  return bytes;
}

std::optional<Introduction> parseIntroduction(const Key& job, const IntroductionBytes& bytes) {
  const std::span whole(bytes);
  const Tag tag = tagOf(job, Purpose::kIntroduction, whole.first(kIntroductionTagAt));
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0 || !sameTag(tag, whole.last<kTagBytes>()))
    return std::nullopt;
  Introduction introduction{getU32(&bytes[kNumbersAt]), getU32(&bytes[kNumbersAt + 4]),
                            getU32(&bytes[kNumbersAt + 8]), getU32(&bytes[kNumbersAt + 12])};
  std::copy_n(bytes.begin() + kNonceAt, sizeof(Nonce), introduction.nonce.begin());
  return introduction;
}

ReplyBytes encodeReply(const Key& job, const IntroductionBytes& introduction, const Nonce& nonce) {
  ReplyBytes bytes;
  std::copy(nonce.begin(), nonce.end(), bytes.begin());
  const Tag tag = tagOf(job, Purpose::kReply, introduction, nonce);
  std::copy(tag.begin(), tag.end(), bytes.begin() + sizeof(Nonce));
  return bytes;
}

bool isReplyTo(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply) {
  const std::span whole(reply);
  const Tag tag = tagOf(job, Purpose::kReply, introduction, whole.first(sizeof(Nonce)));
  return sameTag(tag, whole.last<kTagBytes>());
}

ProofBytes encodeProof(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply) {
  return tagOf(job, Purpose::kProof, introduction, reply);
}

bool isProof(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply,
             const ProofBytes& proof) {
  return sameTag(encodeProof(job, introduction, reply), proof);
}

ConnectionKeys connectionKeys(const Key& job, const IntroductionBytes& introduction,
                              const ReplyBytes& reply) {
  return {tagOf(job, Purpose::kFromDialler, introduction, reply),
          tagOf(job, Purpose::kFromAcceptor, introduction, reply)};
}

Tag HeadSeal::tagOf(ConstHead head) {
  constexpr std::size_t kSealedBytes = kHeadBytes - kSealBytes;
  std::array<std::byte, kSealedBytes + sizeof(heads_)> message;
  std::memcpy(message.data(), head.data(), kSealedBytes);
  std::memcpy(message.data() + kSealedBytes, &heads_, sizeof(heads_));
  ++heads_;
  return sipHash(key_, message);
}

void HeadSeal::seal(Head head) {
  const Tag tag = tagOf(head);
  std::copy(tag.begin(), tag.end(), head.last<kSealBytes>().begin());
}

bool HeadSeal::isGenuine(ConstHead head) {
  return sameTag(tagOf(head), head.last<kSealBytes>());
}

}  // namespace popdist::transport
