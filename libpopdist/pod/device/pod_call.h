// SPDX-License-Identifier: Apache-2.0
// A collective that a program asks its Pod for: what is wrong with it by itself, and what it is for the Pod.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/base/status.h"
#include "libpopdist/collectives/plan/operation.h"
#include "pod/collectives/collective.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

using namespace pop::pod;

/// The ranks of a call, each with a tensor: replicas, or their IPUs.
struct CallRanks {
  int divided = 1;  ///< by its groups: the job's replicas, or a replica's IPUs
  int local_replicas = 1;
  int in_each_replica = 1;  ///< 1 across replicas
  bool are_ipus = false;

  int local() const { return local_replicas * in_each_replica; }
};
CallRanks ranksOf(PodScope scope, const ReplicaLayout& layout, int local_replicas);

struct PodCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::span<const void* const> in;
  std::span<void* const> out;
  std::size_t count = 0;  ///< as the call counts them
  Type type = Type::kFloat;
  Operator op = Operator::kSum;
  PodCallOptions options{};
  int root = 0;

  bool reduces() const {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
  }
  /// Its name in errors.
  plan::Operation operation() const;
};

/// kInvalidArgument names the argument. The method is the compiler's to know.
pop::Status checkAllButTensors(const PodCall& call, const CallRanks& ranks);
pop::Status check(const PodCall& call, const CallRanks& ranks);

/// kInvalidArgument: tensors of a call of many overlap.
pop::Status checkApart(std::span<const Pod::Tensor> tensors, Type type, const CallRanks& ranks);

/// The collective of a call that check() has accepted.
Collective collectiveOf(const PodCall& call, const CallRanks& ranks);

/// The scope, group, root and method in the 16 bytes that errors have for it.
std::string labelOf(PodScope scope, const Collective& collective, const std::string& method);

}  // namespace popdist::pod
