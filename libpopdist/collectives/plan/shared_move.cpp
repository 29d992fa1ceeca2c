// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/shared_move.h"

#include <algorithm>

namespace popdist::plan {
namespace {

SharedStep fetch(const Flow& flow) {
  return {.kind = SharedStepKind::kFetch,
          .rank = flow.from,
          .input = flow.input,
          .output = flow.output,
          .bytes = flow.size};
}

bool leaves(const Flow& flow) {
  return flow.from != flow.to && flow.size > 0;
}

// A block leaves its sender through a lane of the sender's slot. Flows of the same block follow each other,
// and share one.
struct Lanes {
  std::vector<std::size_t> of_flow;  ///< the lane of each flow that leaves a rank
  std::size_t bytes = 0;             ///< bytes of each lane
  std::uint64_t chunks = 0;          ///< chunks of the longest flow
};

Lanes lanesOf(const Flows& flows, const StageShape& shape) {
  struct Sender {
    const Flow* last = nullptr;
    std::size_t lanes = 0;
  };
  std::vector<Sender> senders;
  Lanes lanes;
  lanes.of_flow.reserve(flows.size());
  std::size_t max_lanes = 1;
  std::size_t longest_bytes = 0;
  for (const Flow& flow : flows) {
    const auto from = static_cast<std::size_t>(flow.from);
    senders.resize(std::max(senders.size(), from + 1));
    auto& [last, count] = senders[from];
    std::size_t lane = 0;
    if (leaves(flow)) {
      const bool known = last != nullptr && last->input == flow.input && last->size == flow.size;
      count += known ? 0 : 1;
      last = &flow;
      lane = count - 1;
      longest_bytes = std::max(longest_bytes, flow.size);
    }
    lanes.of_flow.push_back(lane);
    max_lanes = std::max(max_lanes, count);
  }
  lanes.bytes = shape.slot_bytes / max_lanes / kLineBytes * kLineBytes;
  lanes.chunks = (longest_bytes + lanes.bytes - 1) / lanes.bytes;
  return lanes;
}

// For a flow whose sender receives nothing itself: the part that the sender copies to the receiver. Both then
// have the same amount of work: the receiver fetches a part of everything that reaches it, and the sender
// writes a part of everything that leaves it.
std::size_t givenBytes(const Flows& flows, const Flow& flow) {
  if (flow.from == flow.to || flow.size == 0) return 0;
  std::size_t leaving = 0;
  std::size_t arriving = 0;
  for (const Flow& other : flows) {
    if (other.size == 0) continue;
    if (other.to == flow.from && other.from != flow.from) return 0;
    leaving += other.from == flow.from && other.to != flow.from ? 1 : 0;
    arriving += other.to == flow.to ? 1 : 0;
  }
  if (leaving == 0) return 0;
  const std::size_t share = flow.size / (leaving + arriving) * arriving;
  return share / kLineBytes * kLineBytes;
}

// Each chunk has a step for each flow of this rank, a small part of all flows.
class StagedMove final : public StagedPlan {
 public:
  StagedMove(const Flows& flows, int rank, const StageShape& shape, const Lanes& lanes)
      : StagedPlan(lanes.chunks, 1), shape_(shape), lane_bytes_(lanes.bytes) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const Flow& flow = flows[i];
      const std::size_t stage = lanes.of_flow[i] * lane_bytes_;
      if (flow.from == rank && flow.to == rank) kept_.push_back(flow);
      if (!leaves(flow)) continue;
      if (flow.from == rank && (leaving_.empty() || leaving_.back().stage != stage))
        leaving_.push_back({flow, stage});
      if (flow.to == rank) arriving_.push_back({flow, stage});
    }
    // Each rank begins with the rank after it, so that not all begin with the same one.
    std::stable_partition(arriving_.begin(), arriving_.end(),
                          [rank](const Laned& each) { return each.flow.from > rank; });
  }

 private:
  struct Laned {
    Flow flow;
    std::size_t stage = 0;  ///< start of its lane
  };

  void addTurn(std::uint64_t turn) override {
    if (turn == 0) keepOwn();
    if (isUnderWay(turn, 0)) exportChunk(turn);
    if (turn == 1) meet();  // steps that wait for no other rank come first
    if (isUnderWay(turn, 1)) importChunk(turn - 1);
  }

  void keepOwn() {
    for (const Flow& flow : kept_) add(fetch(flow));
  }

  std::size_t bytesOf(const Flow& flow, std::uint64_t chunk) const {
    const std::size_t begin = chunk * lane_bytes_;
    return begin >= flow.size ? 0 : std::min(lane_bytes_, flow.size - begin);
  }

  void exportChunk(std::uint64_t chunk) {
    awaitSlot(chunk, shape_);
    for (const auto& [flow, stage] : leaving_)
      add({.kind = SharedStepKind::kExport,
           .input = flow.input + chunk * lane_bytes_,
           .stage = stage,
           .bytes = bytesOf(flow, chunk),
           .chunk = chunk});
    post(Counter::kExported, chunk + 1);
  }

  void importChunk(std::uint64_t chunk) {
    await(Counter::kExported, chunk + 1);
    for (const auto& [flow, stage] : arriving_)
      add({.kind = SharedStepKind::kImport,
           .rank = flow.from,
           .output = flow.output + chunk * lane_bytes_,
           .stage = stage,
           .bytes = bytesOf(flow, chunk),
           .chunk = chunk});
    post(Counter::kDone, chunk + 1);
  }

  const StageShape shape_;
  const std::size_t lane_bytes_;
  std::vector<Flow> kept_;      ///< from the rank to itself
  std::vector<Laned> leaving_;  ///< one of each lane
  std::vector<Laned> arriving_;
};

}  // namespace

std::unique_ptr<StagedPlan> stagedMove(const Flows& flows, int rank, const StageShape& shape) {
  return std::make_unique<StagedMove>(flows, rank, shape, lanesOf(flows, shape));
}

SharedPlan eagerMove(const Flows& flows, int rank, EagerOrder order) {
  std::size_t leaving_bytes = 0;
  SharedPlan plan{.eager = true};
  for (const Flow& flow : flows) {
    if (flow.from == rank && flow.to != rank) leaving_bytes = std::max(leaving_bytes, flow.input + flow.size);
    if (flow.from == rank && flow.to == rank && flow.size > 0) plan.steps.push_back(fetch(flow));
  }
  exportAndMeet(plan, leaving_bytes, order);
  for (const Flow& flow : flows) {
    if (flow.to != rank || flow.from == rank || flow.size == 0) continue;
    plan.steps.push_back({.kind = SharedStepKind::kImport,
                          .rank = flow.from,
                          .output = flow.output,
                          .stage = flow.input,
                          .bytes = flow.size});
  }
  return plan;
}

SharedPlan directMove(const Flows& flows, int rank, bool gives) {
  SharedPlan plan{.steps = {{.kind = SharedStepKind::kMeet}}};
  for (const Flow& flow : flows) {
    const std::size_t given = gives && flow.from == rank ? givenBytes(flows, flow) : 0;
    if (given == 0) continue;
    const std::size_t fetched = flow.size - given;
    plan.steps.push_back({.kind = SharedStepKind::kGive,
                          .rank = flow.to,
                          .input = flow.input + fetched,
                          .output = flow.output + fetched,
                          .bytes = given});
  }
  for (const bool behind : {true, false}) {
    for (Flow flow : flows) {
      if (flow.to != rank || (flow.from > rank) != behind) continue;
      if (gives) flow.size -= givenBytes(flows, flow);
      if (flow.size > 0) plan.steps.push_back(fetch(flow));
    }
  }
  partTogether(plan);
  return plan;
}

}  // namespace popdist::plan
