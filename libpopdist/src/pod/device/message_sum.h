// SPDX-License-Identifier: Apache-2.0
// Sums by messages between replicas, over any hosts: GCL's plan, with one rank for each replica, whether or
// not two of them share a process.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "libpopdist/src/calls/make_group.h"
#include "libpopdist/src/pod/device/device_sum.h"

namespace popdist::pod {

class MessageSum : public DeviceSum {
 public:
  /// The ranks of the group are replicas.
  MessageSum(calls::MessageGroup ranks, ReplicaLayout layout)
      : group_(std::move(ranks.group)), runner_(*ranks.runner), layout_(std::move(layout)) {}

  void run(const DeviceTensors& tensors) override;
  [[noreturn]] void refuse(const pop::Status& why) const override;
  [[noreturn]] void abort(const pop::Status& why) override;

 private:
  const std::vector<plan::Plan>& plansFor(std::size_t count);

  const std::unique_ptr<group::Group> group_;
  calls::MessageRunner& runner_;
  const ReplicaLayout layout_;
  std::map<std::size_t, std::vector<plan::Plan>> plans_;  ///< plans of the local replicas, by count
};

}  // namespace popdist::pod
