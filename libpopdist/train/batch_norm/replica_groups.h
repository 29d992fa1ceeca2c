// SPDX-License-Identifier: Apache-2.0
// Sums over groups of consecutive replicas, whose instances are as may be.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "popdist/context.hpp"

namespace popdist::train {

/// The replicas of an instance.
struct ReplicaRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const ReplicaRange&, const ReplicaRange&) = default;
};

/// For each instance, the first of all that share groups with it, directly or by others' groups. Instances
/// hold all replicas together, each once. Pure.
std::vector<int> linkedInstances(std::span<const ReplicaRange> instances, int span);

class ReplicaGroups {
 public:
  /// `instances` by index; `span` divides the number of replicas. Collective over all instances: makes a
  /// communicator for each set that linkedInstances() finds, and takes the world for all. Throws
  /// popdist_error.
  ReplicaGroups(Context& context, std::vector<ReplicaRange> instances, int span);

  /// `values` has as many numbers for each local replica, one replica after the other. They become the sums
  /// over its group, added in order of replica: s = v0 + v1, s + v2, … Collective over the instances that
  /// share groups. Throws popdist_error.
  /// `what`: for errors of instances that are in different calls.
  void sum(std::span<double> values, std::string_view what);

 private:
  /// The place of a replica's values in `gathered_`.
  std::size_t placeOf(int replica) const;

  std::vector<ReplicaRange> members_;  ///< instances that share groups with this one, by index
  ReplicaRange own_;
  int span_;
  std::unique_ptr<Communicator> made_;
  std::shared_ptr<void> told_;            ///< told of failures
  Communicator* communicator_ = nullptr;  ///< nullptr: this instance shares no group
  std::vector<double> gathered_;
};

}  // namespace popdist::train
