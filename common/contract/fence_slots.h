// SPDX-License-Identifier: Apache-2.0
// Lets the instances of a host enter a fence with one message for all of them (docs/adr/0020). Each instance
// writes its entry into its slot of the host's segment and sleeps; the one that sees that all are inside
// sends the message to the agent. An instance is inside while its slot's last entry has no answer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace pop::contract {

/// Longer tags are sent by message.
inline constexpr std::size_t kSlotTagBytes = 96;

/// The slot of one instance. The instance writes all of it except the agent's words, and only while it is
/// outside.
struct FenceSlot {
  std::atomic<std::uint32_t> entered{0};   ///< number of its last entry: 1, 2, 3, …
  std::atomic<std::uint32_t> answered{0};  ///< agent: the entry that it has answered last
  std::atomic<std::uint32_t> failed{0};    ///< agent: 1: that answer is an error, on the socket
  std::uint32_t by_message = 0;            ///< 1: a message follows, which counts
  std::atomic<std::uint64_t> tag_digest{0};
  std::uint32_t tag_bytes = 0;
  char tag[kSlotTagBytes] = {};  ///< purpose of the fence
  /// 1 more than the instance whose failure this one was told of last; 0: none. Read when this one has ended.
  std::atomic<std::uint32_t> told_by{0};
};
static_assert(sizeof(FenceSlot) == 128);

inline std::uint64_t tagDigest(std::string_view tag) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  for (const char each : tag) digest = (digest ^ static_cast<unsigned char>(each)) * 1099511628211U;
  return digest;
}

inline bool isInside(const FenceSlot& slot) {
  return slot.entered.load(std::memory_order_seq_cst) != slot.answered.load(std::memory_order_acquire);
}

/// Writes entry number `entry` of the slot's instance.
inline void enterSlot(FenceSlot& slot, std::uint32_t entry, std::string_view tag, bool by_message) {
  slot.by_message = by_message ? 1 : 0;
  slot.tag_bytes = static_cast<std::uint32_t>(std::min(tag.size(), kSlotTagBytes));
  std::memcpy(slot.tag, tag.data(), slot.tag_bytes);
  slot.tag_digest.store(tagDigest(tag), std::memory_order_relaxed);
  // Written before the other slots are read: of several instances that enter at once, the last one sees all.
  slot.entered.store(entry, std::memory_order_seq_cst);
}

/// Called after entering for `tag`: checks the slots of the host. True if the agent has something to do,
/// because all instances are inside, or one is inside for another call.
inline bool concernsAgent(std::span<const FenceSlot> slots, std::string_view tag) {
  const std::uint64_t digest = tagDigest(tag);
  bool all_inside = true;
  for (const FenceSlot& slot : slots) {
    if (!isInside(slot))
      all_inside = false;
    else if (slot.tag_digest.load(std::memory_order_relaxed) != digest)
      return true;
  }
  return all_inside;
}

/// The tag in a slot, which any instance may have overwritten.
inline std::string tagOf(const FenceSlot& slot) {
  return {slot.tag, std::min<std::size_t>(slot.tag_bytes, kSlotTagBytes)};
}

}  // namespace pop::contract
