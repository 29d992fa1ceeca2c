// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/message_moves.h"

#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

Plan planMoves(const Flows& flows, int rank) {
  Plan plan;
  for (const Flow& flow : flows) {
    const Slice from{Buffer::kInput, flow.input};
    const Slice to{Buffer::kOutput, flow.output};
    if (flow.from == rank && flow.to == rank)
      plan.steps.push_back(copyStep(0, from, to, flow.size));
    else if (flow.from == rank)
      plan.steps.push_back(sendStep(0, flow.to, from, flow.size));
    else if (flow.to == rank)
      plan.steps.push_back(recvStep(0, flow.from, to, flow.size));
  }
  return plan;
}

}  // namespace popdist::plan
