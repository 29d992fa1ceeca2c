// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/end_notice_monitor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "libpopdist/collectives/group/group.h"

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

std::optional<exec::PeerLoss> EndNoticeMonitor::cancelled() {
  const context::ContextState& context = members_.context();
  const auto is_stopped = [](const Group& group) { return group.isStopped(); };
  if (context.groups.with(members_.number(), is_stopped))
    return exec::PeerLoss{-1, "its caller has asked to stop", pop::Code::kCancelled};
  bool (*const check)() = context.interrupt_check;
  if (check == nullptr || std::chrono::steady_clock::now() - checked_ < kBetweenChecks) return std::nullopt;
  checked_ = std::chrono::steady_clock::now();
  if (!check()) return std::nullopt;
  return exec::PeerLoss{-1, "its caller was interrupted", pop::Code::kCancelled};
}

bool EndNoticeMonitor::concerns(const pop::contract::EndNotice& end_notice,
                                std::span<const int> awaited) const {
  const auto is_it = [&](int instance) { return instance == end_notice.instance; };
  if (end_notice.clean == 0) return std::ranges::any_of(members_.instances(), is_it);
  return std::ranges::any_of(awaited,
                             [&](int rank) { return is_it(members_.instanceOf(first_rank_ + rank)); });
}

}  // namespace popdist::group
