// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/end_notice_monitor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace popdist::group {

std::optional<exec::PeerLoss> EndNoticeMonitor::loss(std::span<const int> awaited) {
  const std::uint32_t count = header_->end_notice_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const pop::contract::EndNotice& end_notice = pop::contract::endNoticesOf(header_)[i];
    if (!concerns(end_notice, awaited)) continue;
    std::string text = members_.nameOfInstance(end_notice.instance) + " is lost: " + end_notice.text;
    if (end_notice.clean != 0) text += " without taking part";
    return exec::PeerLoss{end_notice.instance, std::move(text)};
  }
  return std::nullopt;
}

bool EndNoticeMonitor::concerns(const pop::contract::EndNotice& end_notice,
                                std::span<const int> awaited) const {
  const auto is_it = [&](int instance) { return instance == end_notice.instance; };
  if (end_notice.clean == 0) return std::ranges::any_of(members_.instances(), is_it);
  return std::ranges::any_of(awaited,
                             [&](int rank) { return is_it(members_.instanceOf(first_rank_ + rank)); });
}

}  // namespace popdist::group
