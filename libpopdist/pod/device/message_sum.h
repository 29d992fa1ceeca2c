// SPDX-License-Identifier: Apache-2.0
// Sums by messages between replicas, over any hosts: GCL's schedule, with one rank for each replica, whether
// or not two of them share a process.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "libpopdist/pod/device/device_sum.h"
#include "libpopdist/pod/device/replica_messages.h"
#include "libpopdist/pod/plans/collective_plans.h"
#include "libpopdist/pod/plans/schedule_plans.h"
#include "pod/collectives/gcl.h"

namespace popdist::pod {

class MessageSum : public DeviceSum {
 public:
  MessageSum(std::shared_ptr<ReplicaMessages> messages, const ReplicaLayout& layout,
             std::vector<int> instance_of_replica)
      : messages_(std::move(messages)),
        all_reduce_(gclAllReduce(layout, layout.replicas)),
        reduce_scatter_(gclReduceScatterOfAll(layout, layout.replicas)),
        instance_of_replica_(std::move(instance_of_replica)) {}

  void run(const DeviceTensors& tensors) override;
  [[noreturn]] void refuse(plan::Operation call, const pop::Status& why) const override;
  [[noreturn]] void abort(plan::Operation call, const pop::Status& why) override;

 private:
  const std::vector<plan::Plan>& plansFor(const DeviceTensors& tensors,
                                          const std::vector<std::size_t>& numbers);
  std::vector<Need> needsOf(std::span<const plan::Range> parts) const;

  const std::shared_ptr<ReplicaMessages> messages_;
  const Schedule all_reduce_;
  const Schedule reduce_scatter_;
  const std::vector<int> instance_of_replica_;
  /// Plans of the local replicas, by the count and the parts.
  std::map<std::vector<std::size_t>, std::vector<plan::Plan>> plans_;
};

}  // namespace popdist::pod
