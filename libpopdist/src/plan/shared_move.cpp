// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/shared_move.h"

#include <algorithm>
#include <utility>

namespace popdist::plan {
namespace {

constexpr std::size_t kLineBytes = 64;

std::vector<std::size_t> beginnings(std::span<const std::size_t> counts) {
  std::vector<std::size_t> begin(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) begin[i] = begin[i - 1] + counts[i - 1];
  return begin;
}

SharedStep fetch(const Flow& flow) {
  return {.kind = SharedStepKind::kFetch,
          .rank = flow.from,
          .input = flow.input,
          .output = flow.output,
          .bytes = flow.bytes};
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
    const std::pair block(flow.input, flow.bytes);
    const bool leaves = flow.from != flow.to && flow.bytes > 0;
    auto found = std::find(known[from].begin(), known[from].end(), block);
    if (leaves && found == known[from].end()) found = known[from].insert(found, block);
    lanes.of_flow.push_back(static_cast<std::size_t>(found - known[from].begin()));
    if (leaves) lanes.longest_bytes = std::max(lanes.longest_bytes, flow.bytes);
    lanes.most = std::max(lanes.most, known[from].size());
  }
  return lanes;
}

class StagedMove {
 public:
  StagedMove(const Flows& flows, int rank, const StageShape& shape)
      : flows_(flows), rank_(rank), shape_(shape), lanes_(lanesOf(flows)) {
    lane_bytes_ = shape.slot_bytes / lanes_.most / kLineBytes * kLineBytes;
    plan_.chunks = (lanes_.longest_bytes + lane_bytes_ - 1) / lane_bytes_;
  }

  SharedPlan take() {
    keepOwn();
    if (plan_.chunks == 0) plan_.steps.push_back({.kind = SharedStepKind::kMeet});
    for (std::uint64_t turn = 0; turn < plan_.chunks + 1; ++turn) {
      if (turn < plan_.chunks) exportChunk(turn);
      if (turn >= 1) importChunk(turn - 1);
    }
    return std::move(plan_);
  }

 private:
  void keepOwn() {
    for (const Flow& flow : flows_) {
      if (flow.from == rank_ && flow.to == rank_) add(fetch(flow));
    }
  }

  std::size_t bytesOf(const Flow& flow, std::uint64_t chunk) const {
    const std::size_t begin = chunk * lane_bytes_;
    return flow.from == flow.to || begin >= flow.bytes ? 0 : std::min(lane_bytes_, flow.bytes - begin);
  }
  std::size_t stageOf(std::size_t flow) const { return lanes_.of_flow[flow] * lane_bytes_; }

  void exportChunk(std::uint64_t chunk) {
    // Until nobody looks any more at what the slot held before.
    await(Counter::kDone, static_cast<std::int64_t>(chunk + 1) - static_cast<std::int64_t>(shape_.slots));
    std::size_t next_lane = 0;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const Flow& flow = flows_[i];
      if (flow.from != rank_ || flow.to == rank_ || flow.bytes == 0 || lanes_.of_flow[i] != next_lane)
        continue;
      ++next_lane;
      add({.kind = SharedStepKind::kExport,
           .input = flow.input + chunk * lane_bytes_,
           .stage = stageOf(i),
           .bytes = bytesOf(flow, chunk),
           .chunk = chunk});
    }
    post(Counter::kExported, chunk);
  }

  void importChunk(std::uint64_t chunk) {
    // What needs nobody else comes before the meeting.
    if (chunk == 0) plan_.steps.push_back({.kind = SharedStepKind::kMeet});
    await(Counter::kExported, static_cast<std::int64_t>(chunk + 1));
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
    post(Counter::kDone, chunk);
  }

  void add(const SharedStep& step) {
    if (step.bytes > 0) plan_.steps.push_back(step);
  }
  void post(Counter counter, std::uint64_t chunk) {
    plan_.steps.push_back(
        {.kind = SharedStepKind::kPost, .counter = counter, .value = static_cast<std::int64_t>(chunk + 1)});
  }
  void await(Counter counter, std::int64_t value) {
    plan_.steps.push_back({.kind = SharedStepKind::kAwait, .counter = counter, .value = value});
  }

  const Flows& flows_;
  const int rank_;
  const StageShape& shape_;
  const Lanes lanes_;
  std::size_t lane_bytes_ = 0;
  SharedPlan plan_;
};

}  // namespace

Flows broadcastFlows(int ranks, std::size_t bytes, int root) {
  Flows flows;
  for (int to = 0; to < ranks; ++to) {
    if (to != root) flows.push_back({root, to, 0, 0, bytes});
  }
  return flows;
}

Flows allGatherFlows(std::span<const std::size_t> counts) {
  const std::vector<std::size_t> begin = beginnings(counts);
  Flows flows;
  for (std::size_t from = 0; from < counts.size(); ++from) {
    for (std::size_t to = 0; to < counts.size(); ++to)
      flows.push_back({static_cast<int>(from), static_cast<int>(to), 0, begin[from], counts[from]});
  }
  return flows;
}

Flows gatherFlows(std::span<const std::size_t> counts, int root) {
  const std::vector<std::size_t> begin = beginnings(counts);
  Flows flows;
  for (std::size_t from = 0; from < counts.size(); ++from)
    flows.push_back({static_cast<int>(from), root, 0, begin[from], counts[from]});
  return flows;
}

Flows scatterFlows(std::span<const std::size_t> counts, int root) {
  const std::vector<std::size_t> begin = beginnings(counts);
  Flows flows;
  for (std::size_t to = 0; to < counts.size(); ++to)
    flows.push_back({root, static_cast<int>(to), begin[to], 0, counts[to]});
  return flows;
}

Flows allToAllFlows(int ranks, std::span<const std::size_t> counts) {
  const auto n = static_cast<std::size_t>(ranks);
  Flows flows;
  std::vector<std::size_t> received(n, 0);
  for (std::size_t from = 0; from < n; ++from) {
    std::size_t sent = 0;
    for (std::size_t to = 0; to < n; ++to) {
      const std::size_t bytes = counts[from * n + to];
      flows.push_back({static_cast<int>(from), static_cast<int>(to), sent, received[to], bytes});
      sent += bytes;
      received[to] += bytes;
    }
  }
  return flows;
}

SharedPlan stagedMove(const Flows& flows, int rank, const StageShape& shape) {
  return StagedMove(flows, rank, shape).take();
}

SharedPlan eagerMove(const Flows& flows, int rank) {
  std::size_t leaving_bytes = 0;
  SharedPlan plan{.eager = true};
  for (const Flow& flow : flows) {
    if (flow.from == rank && flow.to != rank)
      leaving_bytes = std::max(leaving_bytes, flow.input + flow.bytes);
    if (flow.from == rank && flow.to == rank && flow.bytes > 0) plan.steps.push_back(fetch(flow));
  }
  if (leaving_bytes > 0) plan.steps.push_back({.kind = SharedStepKind::kExport, .bytes = leaving_bytes});
  plan.steps.push_back({.kind = SharedStepKind::kMeet});
  for (const Flow& flow : flows) {
    if (flow.to != rank || flow.from == rank || flow.bytes == 0) continue;
    plan.steps.push_back({.kind = SharedStepKind::kImport,
                          .rank = flow.from,
                          .output = flow.output,
                          .stage = flow.input,
                          .bytes = flow.bytes});
  }
  return plan;
}

SharedPlan directMove(const Flows& flows, int rank) {
  SharedPlan plan{.steps = {{.kind = SharedStepKind::kMeet}}};
  for (const bool behind : {true, false}) {
    for (const Flow& flow : flows) {
      if (flow.to != rank || flow.bytes == 0 || (flow.from > rank) != behind) continue;
      plan.steps.push_back(fetch(flow));
    }
  }
  partTogether(plan);
  return plan;
}

}  // namespace popdist::plan
