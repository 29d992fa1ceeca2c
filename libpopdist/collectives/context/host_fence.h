// SPDX-License-Identifier: Apache-2.0
// Enters fences through the slots of this host's segment (common/contract/fence_slots.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/contract/segment.h"
#include "common/sys/futex.h"

namespace popdist::context {

class HostFence {
 public:
  struct Place {
    int instance = 0;
    int first_of_host = 0;
    int instances_of_host = 0;
  };

  /// The agent's answer to the last entry.
  struct Answer {
    bool there = false;
    bool failed = false;        ///< the error is on the socket
    std::uint32_t answers = 0;  ///< number of answers to all instances when this was read
  };

  HostFence() = default;
  /// `header` outlives it.
  HostFence(pop::contract::SegmentHeader* header, const Place& place) : header_(header) {
    const std::size_t instances = *const_cast<const volatile std::uint32_t*>(&header->instances);  // once
    const auto first = static_cast<std::size_t>(place.first_of_host);
    const auto here = static_cast<std::size_t>(place.instances_of_host);
    const auto self = static_cast<std::size_t>(place.instance);
    if (self >= instances) return;
    slot_ = &pop::contract::fenceSlotsOf(header, instances)[self];
    entry_ = slot_->entered.load();
    if (first > self || self - first >= here || here > instances - first) return;
    host_ = pop::contract::fenceSlotsOf(header, instances).subspan(first, here);
  }

  /// An instance that is alone on its host saves no message this way.
  bool canHold(std::string_view tag) const {
    return host_.size() > 1 && tag.size() <= pop::contract::kSlotTagBytes;
  }

  /// Enters the fence. True: the agent must be asked to check.
  bool enter(std::string_view tag) {
    pop::contract::enterSlot(*slot_, ++entry_, tag, false);
    // If an instance has ended, the agent tells the instances that are in the fence by itself; one that
    // enters later must ask it.
    return pop::contract::concernsAgent(host_, tag) ||
           header_->end_notice_count.load(std::memory_order_seq_cst) > 0;
  }

  /// Enters visibly for this host's other instances; the agent counts the message.
  void enterByMessage(std::string_view tag) {
    if (slot_ != nullptr) pop::contract::enterSlot(*slot_, ++entry_, tag, true);
  }

  std::uint32_t entry() const { return entry_; }

  Answer answer() const {
    Answer answer{.answers = header_->fence_answers.load(std::memory_order_seq_cst)};
    answer.there = slot_->answered.load(std::memory_order_acquire) == entry_;
    answer.failed = answer.there && slot_->failed.load(std::memory_order_relaxed) != 0;
    return answer;
  }

  /// Waits until the agent has answered some instance since `seen`, or `limit` has passed.
  void sleep(const Answer& seen, std::chrono::milliseconds limit) const {
    pop::sys::futexWait(header_->fence_answers, seen.answers, limit);
  }

 private:
  pop::contract::SegmentHeader* header_ = nullptr;
  pop::contract::FenceSlot* slot_ = nullptr;
  std::span<const pop::contract::FenceSlot> host_;
  std::uint32_t entry_ = 0;
};

}  // namespace popdist::context
