// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/shared/shared_plans.h"

#include <algorithm>

namespace popdist::calls {

using choice::SharedAlgorithm;
using group::CollectiveCall;
using plan::Operation;

plan::SharedPlan SharedPlans::planFor(const CollectiveCall& call, const choice::PlanChoice& chosen) const {
  if (!plan::reduces(call.operation)) {
    const plan::Flows flows = flowsOf(call);
    return chosen.algorithm == SharedAlgorithm::kEager ? plan::eagerMove(flows, rank_, chosen.order)
                                                       : plan::directMove(flows, rank_, chosen.gives);
  }
  const plan::FoldRequest request = foldOf(call);
  if (chosen.algorithm == SharedAlgorithm::kEager) return plan::eagerFold(request, chosen.order);
  return chosen.algorithm == SharedAlgorithm::kPull ? plan::pulledFold(request) : plan::directFold(request);
}

std::unique_ptr<plan::StagedPlan> SharedPlans::stagedPlanFor(const CollectiveCall& call) const {
  const plan::StageShape shape = plan::chunksOf(call.operation, slots_);
  return plan::reduces(call.operation) ? plan::stagedFold(foldOf(call), shape)
                                       : plan::stagedMove(flowsOf(call), rank_, shape);
}

plan::FoldRequest SharedPlans::foldOf(const CollectiveCall& call) const {
  const bool scatters = call.operation == Operation::kReduceScatter;
  return {.goal = scatters                               ? plan::FoldGoal::kReduceScatter
                  : call.operation == Operation::kReduce ? plan::FoldGoal::kReduce
                                                         : plan::FoldGoal::kAllReduce,
          .rank = rank_,
          .ranks = ranks_,
          .count = call.count * static_cast<std::size_t>(scatters ? ranks_ : 1),
          .element_bytes = sizeOf(call.type),
          .root = call.root};
}

plan::Flows SharedPlans::flowsOf(const CollectiveCall& call) const {
  const auto ranks = static_cast<std::size_t>(ranks_);
  const std::size_t element = sizeOf(call.type);
  std::vector<std::size_t> bytes(ranks, call.count * element);
  if (call.ragged && call.operation == Operation::kAllGather)
    std::transform(call.counts.begin(), call.counts.end(), bytes.begin(),
                   [element](std::size_t count) { return count * element; });
  switch (call.operation) {
    case Operation::kBroadcast:
      return plan::broadcastFlows(ranks_, call.count * element, call.root);
    case Operation::kAllGather:
      return plan::allGatherFlows(bytes);
    case Operation::kGather:
      return plan::gatherFlows(bytes, call.root);
    case Operation::kScatter:
      return plan::scatterFlows(bytes, call.root);
    default: {
      std::vector<std::size_t> all(ranks * ranks, call.count * element);
      if (call.ragged)
        std::transform(matrix_.begin(), matrix_.end(), all.begin(),
                       [element](std::uint64_t count) { return count * element; });
      return plan::allToAllFlows(ranks_, all);
    }
  }
}

}  // namespace popdist::calls
