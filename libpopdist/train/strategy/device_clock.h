// SPDX-License-Identifier: Apache-2.0
// The simulated time of the IPUs of one instance, a server that has a link to its host for each IPU.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "pod/system/replica_layout.h"
#include "popdist/strategy.hpp"

namespace popdist::train {

class DeviceClock {
 public:
  /// A clock of the instance's replicas on the system of the context, or the smallest one.
  explicit DeviceClock(const Context& context);

  const DeviceTimes& times() const { return times_; }

  /// Replicas have summed `bytes` over their links, each a part of them, and sent their parts to the host.
  void sendSums(std::size_t bytes);
  /// The host has sent `bytes`, a part to each replica, and the replicas have exchanged them.
  void receive(std::size_t bytes);
  /// Replicas have summed `bytes`, and all have all: nothing crosses.
  void sumOnLinks(std::size_t bytes);

  /// Throws popdist_error kInvalidArgument as Pod::advanceCompute and Pod::advance.
  void compute(double flops);
  void advance(SimulatedTime time);

 private:
  /// All-reduce of the replicas, of which both directions above are a half.
  SimulatedTime linksTime(std::size_t bytes);
  SimulatedTime hostTime(std::size_t bytes_of_replica) const;
  std::size_t partOf(std::size_t bytes) const { return (bytes + replicas_ - 1) / replicas_; }
  void addLinks(SimulatedTime time);
  void addHost(SimulatedTime time);

  const std::size_t replicas_;
  const std::optional<pop::pod::ReplicaLayout> layout_;  // none: they fit no system
  DeviceTimes times_;
  std::map<std::size_t, SimulatedTime> simulated_;  // by bytes: a training repeats the same
};

}  // namespace popdist::train
