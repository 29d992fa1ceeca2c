// SPDX-License-Identifier: Apache-2.0
// Which members of a group have ended: from the end notices that the agent writes into the segment.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/contract/segment.h"
#include "libpopdist/src/exec/peer_monitor.h"

namespace popdist::group {

class EndNoticeMonitor final : public exec::PeerMonitor {
 public:
  /// `header` outlives it. `instance_of_rank` may have more instances behind those of the ranks, whose
  /// failure matters, too.
  /// `names`: what an instance is called in a loss.
  EndNoticeMonitor(pop::contract::SegmentHeader* header, std::vector<int> instance_of_rank,
                   std::function<std::string(int instance)> names)
      : header_(header), instance_of_rank_(std::move(instance_of_rank)), names_(std::move(names)) {}

  bool anyEnded() override { return header_->end_notice_count.load(std::memory_order_acquire) > 0; }
  std::optional<exec::PeerLoss> loss(std::span<const int> awaited) override;

 private:
  bool concerns(const pop::contract::EndNotice& end_notice, std::span<const int> awaited) const;

  pop::contract::SegmentHeader* header_;
  const std::vector<int> instance_of_rank_;
  const std::function<std::string(int instance)> names_;
};

}  // namespace popdist::group
