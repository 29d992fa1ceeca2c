// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/message_sum.h"

#include "libpopdist/src/pod/model/gcl/all_reduce.h"

namespace popdist::pod {
namespace {

constexpr plan::Operation kOperation = plan::kDeviceAllReduce;

}  // namespace

void MessageSum::run(const DeviceTensors& tensors) {
  const std::vector<plan::Plan>& plans = plansFor(tensors.count);
  std::vector<context::Group::Part> parts;
  for (std::size_t local = 0; local < plans.size(); ++local)
    parts.push_back({&plans[local], tensors.local[local], tensors.local[local]});
  group_->run({.name = nameOf(kOperation),
               .operation = static_cast<std::uint32_t>(kOperation),
               .type = tensors.type,
               .count = tensors.count},
              parts, group_->timeout());
}

void MessageSum::refuse(const pop::Status& why) const {
  group_->fail(nameOf(kOperation), why, -1);
}

// Training repeats the same few sizes.
const std::vector<plan::Plan>& MessageSum::plansFor(std::size_t count) {
  const auto [entry, is_new] = plans_.try_emplace(count);
  if (!is_new) return entry->second;
  for (const int replica : group_->localRanks())
    entry->second.push_back(gcl::planDeviceAllReduce(layout_, replica, count));
  return entry->second;
}

}  // namespace popdist::pod
