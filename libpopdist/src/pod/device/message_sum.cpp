// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/message_sum.h"

#include <utility>

#include "libpopdist/src/calls/messages/message_calls.h"
#include "libpopdist/src/pod/model/gcl/all_reduce.h"

namespace popdist::pod {
namespace {}  // namespace

void MessageSum::run(const DeviceTensors& tensors) {
  const group::CollectiveCall call{
      .operation = plan::kDeviceAllReduce, .count = tensors.count, .type = tensors.type};
  const std::vector<plan::Plan>& plans = plansFor(tensors.count);
  std::vector<calls::MessageRunner::Part> parts;
  for (std::size_t local = 0; local < plans.size(); ++local)
    parts.push_back({&plans[local], tensors.local[local], tensors.local[local]});
  group_->checkUsable(call);
  runner_.nextCall();
  const exec::Failure failure = runner_.run(calls::messageCallOf(call), parts, group_->timeout());
  if (!failure.status.ok()) group_->failCollective(group::descriptionOf(call), failure);
}

void MessageSum::refuse(const pop::Status& why) const {
  group_->fail({nameOf(plan::kDeviceAllReduce), nameOf(plan::kDeviceAllReduce)}, why, -1);
}

void MessageSum::abort(const pop::Status& why) {
  group_->failCollective({nameOf(plan::kDeviceAllReduce), nameOf(plan::kDeviceAllReduce)}, {why});
}

// Training repeats the same few sizes.
const std::vector<plan::Plan>& MessageSum::plansFor(std::size_t count) {
  constexpr std::size_t kKeptCounts = 64;
  if (const auto kept = plans_.find(count); kept != plans_.end()) return kept->second;
  std::vector<plan::Plan> plans;
  for (const int replica : group_->members().localRanks())
    plans.push_back(gcl::planDeviceAllReduce(layout_, replica, count));
  if (plans_.size() >= kKeptCounts) plans_.clear();
  return plans_.emplace(count, std::move(plans)).first->second;
}

}  // namespace popdist::pod
