// SPDX-License-Identifier: Apache-2.0
// Messages between replicas, whether or not two of them share a process: one rank for each.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/calls/make_group.h"
#include "libpopdist/collectives/group/collective_call.h"
#include "popdist/context.hpp"

namespace popdist::pod {

class ReplicaMessages {
 public:
  /// Collective over all instances. Throws popdist_error.
  ReplicaMessages(Context& context, const std::vector<int>& instance_of_replica);

  int replicas() const { return group_->members().size(); }  ///< the job's
  int firstLocal() const { return group_->members().localRanks().front(); }
  int locals() const { return static_cast<int>(group_->members().localRanks().size()); }

  struct Way {
    Operator folds = Operator::kSum;  ///< of the plans' sums
    bool sends_empty = false;         ///< as exec::Call's
  };
  /// Carries out one part for each local replica. Throws popdist_error, after which no further call is
  /// possible.
  void run(const group::CollectiveCall& call, std::span<const calls::MessageRunner::Part> parts, Way way);
  /// Refuses a call before it has begun.
  [[noreturn]] void refuse(plan::Operation call, const pop::Status& why) const;
  /// Tells the other instances that this one aborts its last call, and throws. No further call is possible.
  [[noreturn]] void abort(plan::Operation call, const pop::Status& why);
  bool isUsable() const { return group_->isUsable(); }

 private:
  explicit ReplicaMessages(calls::MessageGroup ranks)
      : group_(std::move(ranks.group)), runner_(*ranks.runner) {}

  const std::unique_ptr<group::Group> group_;
  calls::MessageRunner& runner_;
};

}  // namespace popdist::pod
