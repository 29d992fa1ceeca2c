// SPDX-License-Identifier: Apache-2.0
// Calls for SharedPlanSimulator: the plans of all ranks, random buffers, and what they must become.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/plan/shared_fold.h"
#include "libpopdist/collectives/plan/shared_move.h"
#include "tests/unit/libpopdist/collectives/plan/shared_plan_simulator.h"

namespace popdist::plan {

using Bytes = std::vector<std::uint8_t>;

struct SharedSample {
  SharedCallParts parts;
  std::vector<Bytes> expected;  ///< outputs by rank
};

inline Bytes randomBytes(std::size_t count, pop::SplitMix64& random) {
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

inline std::vector<int> sharedGroupSizes() {
  return {1, 2, 3, 4, 5, 6, 7, 8, 9, 33};
}

/// So that a few hundred bytes are many chunks.
inline StageLayout smallLayout(int ranks) {
  const std::size_t slot_bytes = 64 * static_cast<std::size_t>(ranks <= 4 ? 4 : ranks);
  return {.slots = {slot_bytes, 3}, .ring_bytes = 12 * slot_bytes, .eager_bytes = 3 * slot_bytes};
}

/// kGiving: direct, into outputs of others too; of folds the same as kDirect. kPulled: direct, into nobody's.
enum class SharedWay : std::uint8_t { kEager, kStaged, kDirect, kGiving, kPulled };

inline std::string nameOf(SharedWay way) {
  constexpr const char* kNames[] = {"Eager", "Staged", "Direct", "Giving", "Pulled"};
  return kNames[static_cast<int>(way)];
}
inline void PrintTo(SharedWay way, std::ostream* out) {
  *out << nameOf(way);
}

inline std::string nameOf(FoldGoal goal) {
  constexpr const char* kNames[] = {"AllReduce", "ReduceScatter", "Reduce"};
  return kNames[static_cast<int>(goal)];
}
inline void PrintTo(FoldGoal goal, std::ostream* out) {
  *out << nameOf(goal);
}

/// All parts as the one plan that they are.
inline SharedPlan whole(const std::unique_ptr<StagedPlan>& staged) {
  SharedPlan plan;
  for (SharedPlan part; !staged->isOver();) {
    staged->next(part);
    plan.steps.insert(plan.steps.end(), part.steps.begin(), part.steps.end());
    plan.chunks += part.chunks;
  }
  return plan;
}

inline SharedPlan foldPlan(SharedWay way, const FoldRequest& request, const StageShape& shape) {
  if (way == SharedWay::kEager) return eagerFold(request, EagerOrder::kOnly);
  if (way == SharedWay::kPulled && request.goal != FoldGoal::kReduce) return pulledFold(request);
  return way == SharedWay::kStaged ? whole(stagedFold(request, shape)) : directFold(request);
}

/// `count` elements in all; of kReduceScatter for each rank.
inline SharedSample foldSample(SharedWay way, FoldRequest request, const StageLayout& layout, bool in_place,
                               pop::SplitMix64& random) {
  const auto ranks = static_cast<std::size_t>(request.ranks);
  const bool scatters = request.goal == FoldGoal::kReduceScatter;
  const std::size_t share = request.count * request.element_bytes;
  if (scatters) request.count *= ranks;
  const std::size_t whole = request.count * request.element_bytes;
  SharedSample sample{SharedCallParts(ranks), std::vector<Bytes>(ranks)};
  Bytes folded(whole, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    request.rank = static_cast<int>(rank);
    SharedPart& part = sample.parts[rank];
    part.plan = foldPlan(way, request, layout.slots);
    part.eager_bytes = whole;
    part.input = randomBytes(whole, random);
    part.output = randomBytes(share, random);
    for (std::size_t i = 0; i < whole; ++i) folded[i] = mixed(folded[i], part.input[i]);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    SharedPart& part = sample.parts[rank];
    const bool gets = request.goal != FoldGoal::kReduce || request.root == static_cast<int>(rank);
    const auto begin = folded.begin() + static_cast<std::ptrdiff_t>(scatters ? rank * share : 0);
    sample.expected[rank] = gets ? Bytes(begin, begin + static_cast<std::ptrdiff_t>(share)) : part.output;
    // Some ranks in place, others not.
    if (!in_place || scatters || !gets || random.below(3) == 0) continue;
    part.in_place_at = 0;
    part.output = part.input;
  }
  return sample;
}

inline SharedPlan movePlan(SharedWay way, const Flows& flows, int rank, const StageShape& shape) {
  if (way == SharedWay::kEager) return eagerMove(flows, rank, EagerOrder::kOnly);
  return way == SharedWay::kStaged ? whole(stagedMove(flows, rank, shape))
                                   : directMove(flows, rank, way == SharedWay::kGiving);
}

/// Of buffers that are as large as the flows need. What the flows are is tested by themselves.
inline SharedSample moveSample(SharedWay way, const Flows& flows, int ranks, const StageLayout& layout,
                               pop::SplitMix64& random) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> in(n, 0);
  std::vector<std::size_t> out(n, 0);
  for (const Flow& flow : flows) {
    std::size_t& sent = in[static_cast<std::size_t>(flow.from)];
    std::size_t& received = out[static_cast<std::size_t>(flow.to)];
    sent = std::max(sent, flow.input + flow.size);
    received = std::max(received, flow.output + flow.size);
  }
  SharedSample sample{SharedCallParts(n), std::vector<Bytes>(n)};
  for (std::size_t rank = 0; rank < n; ++rank) {
    sample.parts[rank] = {.plan = movePlan(way, flows, static_cast<int>(rank), layout.slots),
                          .input = randomBytes(in[rank], random),
                          .output = randomBytes(out[rank], random),
                          .eager_bytes = *std::max_element(in.begin(), in.end())};
    sample.expected[rank] = sample.parts[rank].output;
  }
  for (const Flow& flow : flows) {
    const auto begin = sample.parts[static_cast<std::size_t>(flow.from)].input.begin() +
                       static_cast<std::ptrdiff_t>(flow.input);
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(flow.size),
              sample.expected[static_cast<std::size_t>(flow.to)].begin() +
                  static_cast<std::ptrdiff_t>(flow.output));
  }
  return sample;
}

/// Block sizes of each rank, some of them zero.
inline std::vector<std::size_t> raggedBytes(std::size_t entries, std::size_t most, pop::SplitMix64& random) {
  std::vector<std::size_t> bytes(entries);
  for (std::size_t& each : bytes) each = random.below(3) == 0 ? 0 : random.below(most + 1);
  return bytes;
}

/// Every kind of movement, with equal and with ragged blocks of at most `most` bytes.
inline std::vector<std::pair<std::string, Flows>> sampleFlows(int ranks, std::size_t most,
                                                              pop::SplitMix64& random) {
  const auto n = static_cast<std::size_t>(ranks);
  const int root = static_cast<int>(random.below(n));
  const std::vector<std::size_t> equal(n, most);
  return {
      {"broadcast", broadcastFlows(ranks, most, root)},
      {"all-gather", allGatherFlows(equal)},
      {"ragged all-gather", allGatherFlows(raggedBytes(n, most, random))},
      {"gather", gatherFlows(equal, root)},
      {"scatter", scatterFlows(equal, root)},
      {"all-to-all", allToAllFlows(ranks, std::vector<std::size_t>(n * n, most))},
      {"ragged all-to-all", allToAllFlows(ranks, raggedBytes(n * n, most, random))},
  };
}

/// Runs the samples back to back; empty, or what is wrong.
inline std::string runSamples(const std::vector<SharedSample>& samples, int ranks, const StageLayout& layout,
                              std::uint64_t seed) {
  std::vector<SharedCallParts> calls;
  for (const SharedSample& sample : samples) calls.push_back(sample.parts);
  SharedPlanSimulator simulator(ranks, layout, seed);
  if (std::string error = simulator.run(calls); !error.empty()) return error;
  for (std::size_t call = 0; call < samples.size(); ++call) {
    for (std::size_t rank = 0; rank < samples[call].expected.size(); ++rank) {
      if (simulator.outputs()[call][rank] != samples[call].expected[rank])
        return "call " + std::to_string(call) + ": rank " + std::to_string(rank) + " has a wrong result";
    }
  }
  return "";
}

}  // namespace popdist::plan
