// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/shared_move.h"

#include <algorithm>
#include <utility>

namespace popdist::plan {
namespace {

SharedStep fetch(const Flow& flow) {
  return {.kind = SharedStepKind::kFetch,
          .rank = flow.from,
          .input = flow.input,
          .output = flow.output,
          .bytes = flow.size};
}

// A block leaves its sender through a lane of the sender's slot: blocks that are the same share one.
struct Lanes {
  std::vector<std::size_t> of_flow;
  std::size_t most = 1;           ///< of any sender
  std::size_t longest_bytes = 0;  ///< of all flows that leave a rank
};

Lanes lanesOf(const Flows& flows) {
  Lanes lanes;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> known;  // of each sender: input, bytes
  for (const Flow& flow : flows) {
    const auto from = static_cast<std::size_t>(flow.from);
    known.resize(std::max(known.size(), from + 1));
    const std::pair block(flow.input, flow.size);
    const bool leaves = flow.from != flow.to && flow.size > 0;
    auto found = std::find(known[from].begin(), known[from].end(), block);
    if (leaves && found == known[from].end()) found = known[from].insert(found, block);
    lanes.of_flow.push_back(static_cast<std::size_t>(found - known[from].begin()));
    if (leaves) lanes.longest_bytes = std::max(lanes.longest_bytes, flow.size);
    lanes.most = std::max(lanes.most, known[from].size());
  }
  return lanes;
}

// Of a flow whose sender receives nothing itself: what it carries to the receiver. Both then have as much to
// do: the receiver a part of all that reaches it, the sender one of all that leaves it. The rest is fetched.
std::size_t givenBytes(const Flows& flows, const Flow& flow) {
  if (flow.from == flow.to) return 0;
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

std::size_t laneBytes(const Lanes& lanes, const StageShape& shape) {
  return shape.slot_bytes / lanes.most / kLineBytes * kLineBytes;
}

std::uint64_t chunksThrough(const Lanes& lanes, const StageShape& shape) {
  const std::size_t lane_bytes = laneBytes(lanes, shape);
  return (lanes.longest_bytes + lane_bytes - 1) / lane_bytes;
}

class StagedMove final : public StagedPlan {
 public:
  StagedMove(Flows flows, int rank, const StageShape& shape, Lanes lanes)
      : StagedPlan(chunksThrough(lanes, shape), 1),
        flows_(std::move(flows)),
        rank_(rank),
        shape_(shape),
        lanes_(std::move(lanes)),
        lane_bytes_(laneBytes(lanes_, shape)) {}

 private:
  void addTurn(std::uint64_t turn) override {
    if (turn == 0) keepOwn();
    if (isUnderWay(turn, 0)) exportChunk(turn);
    if (turn == 1) meet();  // what needs nobody else comes before
    if (isUnderWay(turn, 1)) importChunk(turn - 1);
  }

  void keepOwn() {
    for (const Flow& flow : flows_) {
      if (flow.from == rank_ && flow.to == rank_) add(fetch(flow));
    }
  }

  std::size_t bytesOf(const Flow& flow, std::uint64_t chunk) const {
    const std::size_t begin = chunk * lane_bytes_;
    return flow.from == flow.to || begin >= flow.size ? 0 : std::min(lane_bytes_, flow.size - begin);
  }
  std::size_t stageOf(std::size_t flow) const { return lanes_.of_flow[flow] * lane_bytes_; }

  void exportChunk(std::uint64_t chunk) {
    awaitSlot(chunk, shape_);
    std::size_t next_lane = 0;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const Flow& flow = flows_[i];
      if (flow.from != rank_ || flow.to == rank_ || flow.size == 0 || lanes_.of_flow[i] != next_lane)
        continue;
      ++next_lane;
      add({.kind = SharedStepKind::kExport,
           .input = flow.input + chunk * lane_bytes_,
           .stage = stageOf(i),
           .bytes = bytesOf(flow, chunk),
           .chunk = chunk});
    }
    post(Counter::kExported, chunk + 1);
  }

  void importChunk(std::uint64_t chunk) {
    await(Counter::kExported, chunk + 1);
    // Each begins with the one behind it: not everybody with the same.
    for (const bool behind : {true, false}) {
      for (std::size_t i = 0; i < flows_.size(); ++i) {
        const Flow& flow = flows_[i];
        if (flow.to != rank_ || (flow.from > rank_) != behind) continue;
        add({.kind = SharedStepKind::kImport,
             .rank = flow.from,
             .output = flow.output + chunk * lane_bytes_,
             .stage = stageOf(i),
             .bytes = bytesOf(flow, chunk),
             .chunk = chunk});
      }
    }
    post(Counter::kDone, chunk + 1);
  }

  const Flows flows_;
  const int rank_;
  const StageShape shape_;
  const Lanes lanes_;
  const std::size_t lane_bytes_;
};

}  // namespace

std::unique_ptr<StagedPlan> stagedMove(const Flows& flows, int rank, const StageShape& shape) {
  return std::make_unique<StagedMove>(flows, rank, shape, lanesOf(flows));
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
