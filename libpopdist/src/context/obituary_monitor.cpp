// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/obituary_monitor.h"

#include <algorithm>
#include <string>
#include <utility>

namespace popdist::context {

std::optional<exec::PeerLoss> ObituaryMonitor::loss(std::span<const int> awaited) {
  const std::uint32_t count = header_->obituary_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const pop::contract::Obituary& obituary = pop::contract::obituariesOf(header_)[i];
    if (!concerns(obituary, awaited)) continue;
    std::string text = names_(obituary.instance) + " is lost: " + obituary.text;
    if (obituary.clean != 0) text += " without taking part";
    return exec::PeerLoss{obituary.instance, std::move(text)};
  }
  return std::nullopt;
}

bool ObituaryMonitor::concerns(const pop::contract::Obituary& obituary, std::span<const int> awaited) const {
  const auto is_it = [&](int instance) { return instance == obituary.instance; };
  if (obituary.clean == 0) return std::any_of(instance_of_rank_.begin(), instance_of_rank_.end(), is_it);
  return std::any_of(awaited.begin(), awaited.end(),
                     [&](int rank) { return is_it(instance_of_rank_[static_cast<std::size_t>(rank)]); });
}

}  // namespace popdist::context
