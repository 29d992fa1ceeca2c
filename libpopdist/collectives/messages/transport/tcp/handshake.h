// SPDX-License-Identifier: Apache-2.0
// Handshake of a new TCP connection: its two ends prove to each other that they belong to the same job, and
// agree on keys for this connection. Bytes in, bytes out. A peer that does not know the job's key learns
// nothing and gets no answer.
//
//   dialler:  introduction = its rank, the wanted rank, a nonce; a tag of these
//   acceptor: reply        = a nonce; a tag of the introduction and the nonce
//   dialler:  proof        = another tag of both, which shows that this is no replay
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "libpopdist/collectives/messages/transport/tcp/siphash.h"
#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::transport {

using Nonce = std::array<std::byte, 16>;

/// From the kernel's source of random bytes.
Nonce randomNonce();

/// Identifies one of the job's connections.
struct Introduction {
  std::uint32_t group = 0;
  std::uint32_t from = 0;    ///< rank that dials
  std::uint32_t to = 0;      ///< rank that is wanted
  std::uint32_t stream = 0;  ///< index of the stream between the two
  Nonce nonce{};

  friend bool operator==(const Introduction&, const Introduction&) = default;
};

using IntroductionBytes = std::array<std::byte, 56>;
using ReplyBytes = std::array<std::byte, 32>;
using ProofBytes = Tag;

IntroductionBytes encodeIntroduction(const Key& job, const Introduction& introduction);
/// The decoded introduction; nullopt unless it was made with the job's key.
std::optional<Introduction> parseIntroduction(const Key& job, const IntroductionBytes& bytes);

ReplyBytes encodeReply(const Key& job, const IntroductionBytes& introduction, const Nonce& nonce);
bool isReplyTo(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply);

ProofBytes encodeProof(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply);
bool isProof(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply,
             const ProofBytes& proof);

/// The keys of one connection, one for each direction.
struct ConnectionKeys {
  Key from_dialler{};
  Key from_acceptor{};
};
ConnectionKeys connectionKeys(const Key& job, const IntroductionBytes& introduction, const ReplyBytes& reply);

/// One direction's heads, in their order: the tag of a head depends on how many came before it, so that none
/// can be left out, repeated or moved.
class HeadSeal {
 public:
  HeadSeal() = default;
  explicit HeadSeal(const Key& key) : key_(key) {}

  void seal(Head head);
  bool isGenuine(ConstHead head);

 private:
  Tag tagOf(ConstHead head);

  Key key_{};
  std::uint64_t heads_ = 0;
};

}  // namespace popdist::transport
