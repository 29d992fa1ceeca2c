// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/group/end_notice_monitor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace popdist::group {

std::optional<exec::PeerLoss> EndNoticeMonitor::loss(std::span<const int> awaited) {
  const std::uint32_t count = header_->end_notice_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const pop::contract::EndNotice& end_notice = pop::contract::endNoticesOf(header_)[i];
    if (!concerns(end_notice, awaited)) continue;
    std::string text = names_(end_notice.instance) + " is lost: " + end_notice.text;
    if (end_notice.clean != 0) text += " without taking part";
    return exec::PeerLoss{end_notice.instance, std::move(text)};
  }
  return std::nullopt;
}

bool EndNoticeMonitor::concerns(const pop::contract::EndNotice& end_notice,
                                std::span<const int> awaited) const {
  const auto is_it = [&](int instance) { return instance == end_notice.instance; };
  if (end_notice.clean == 0) return std::any_of(instance_of_rank_.begin(), instance_of_rank_.end(), is_it);
  return std::any_of(awaited.begin(), awaited.end(),
                     [&](int rank) { return is_it(instance_of_rank_[static_cast<std::size_t>(rank)]); });
}

}  // namespace popdist::group
