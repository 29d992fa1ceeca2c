// SPDX-License-Identifier: Apache-2.0
// Reports which members of a group have ended, from the end notices that the agent writes into the segment,
// and which wait elsewhere.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "common/contract/segment.h"
#include "libpopdist/collectives/group/crossing.h"
#include "libpopdist/collectives/group/members.h"
#include "libpopdist/collectives/messages/exec/peer_monitor.h"

namespace popdist::group {

class EndNoticeMonitor final : public exec::PeerMonitor {
 public:
  /// `members` outlives the monitor. `first_rank` is the rank that the caller numbers 0.
  explicit EndNoticeMonitor(const Members& members, int first_rank = 0)
      : members_(members),
        first_rank_(first_rank),
        crossing_(members, first_rank),
        header_(members.context().link->segment().header()) {}

  bool anyEnded() override { return header_->end_notice_count.load(std::memory_order_acquire) > 0; }
  std::optional<exec::PeerLoss> loss(std::span<const int> awaited) override;
  std::optional<exec::PeerLoss> cancelled() override;
  std::optional<exec::PeerLoss> elsewhere(std::span<const int> awaited) override {
    return crossing_.find(awaited);
  }
  std::optional<exec::PeerLoss> crossing(int rank, const exec::Header& note, bool is_awaited) override {
    return crossing_.findWith(rank, note, is_awaited);
  }
  void over() override { crossing_.over(); }

 private:
  // It may wait for an interpreter.
  static constexpr std::chrono::milliseconds kBetweenChecks{20};

  bool concerns(const pop::contract::EndNotice& end_notice, std::span<const int> awaited) const;

  const Members& members_;
  const int first_rank_;
  Crossing crossing_;
  pop::contract::SegmentHeader* const header_;
  std::chrono::steady_clock::time_point checked_{};  ///< when the interrupt check was called
};

}  // namespace popdist::group
