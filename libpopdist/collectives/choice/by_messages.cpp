// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/by_messages.h"

#include <algorithm>
#include <array>
#include <climits>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/dissemination_barrier.h"
#include "libpopdist/collectives/plan/halving_doubling_all_reduce.h"
#include "libpopdist/collectives/plan/message_moves.h"
#include "libpopdist/collectives/plan/pairwise_all_to_all.h"
#include "libpopdist/collectives/plan/recursive_doubling_all_reduce.h"
#include "libpopdist/collectives/plan/ring_all_gather.h"
#include "libpopdist/collectives/plan/ring_all_reduce.h"
#include "libpopdist/collectives/plan/ring_reduce_scatter.h"
#include "libpopdist/collectives/plan/segments.h"
#include "libpopdist/collectives/plan/tree_broadcast.h"
#include "libpopdist/collectives/plan/tree_reduce.h"

namespace popdist::choice {

using plan::Operation;
using plan::Plan;

namespace {

constexpr std::size_t kAnySize = SIZE_MAX;
constexpr int kAnyRanks = INT_MAX;
constexpr std::size_t kKiB = 1024;
// Half of an L2 cache; and with its head it fills eight packets of a loopback interface, 65483 bytes each.
constexpr std::size_t kSegmentBlockBytes = 512 * kKiB - 512;

// A ring's partial sums have two slots in each of two segments.
static_assert(4 * kSegmentBlockBytes <= kMaxScratchBytes);

Plan allReduce(const Request& r, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kRecursiveDoubling:
      return plan::planRecursiveDoublingAllReduce(r.rank, r.ranks, r.count);
    case Algorithm::kHalvingDoubling:
      return plan::planHalvingDoublingAllReduce(r.rank, r.ranks, r.count);
    case Algorithm::kSegmentedRing:
      return plan::planSegmentedRingAllReduce(r.rank, r.ranks, r.count, segmentCount(r.element_bytes));
    default:
      return plan::planRingAllReduce(r.rank, r.ranks, r.count);
  }
}

// Two ranks need nothing kept: one sends all, the other one reduces it as it comes.
Plan treeReduce(const Request& r) {
  const std::size_t segment = segmentCount(r.element_bytes);
  return plan::inSegments(r.count, r.ranks > 2 ? segment : std::max(r.count, segment), [&](plan::Range part) {
    return plan::planTreeReduce(r.rank, r.ranks, r.root, part.count);
  });
}

// The first row that fits is taken. The limits are measured: bench/tcp_all_reduce.
struct Row {
  Operation operation;
  bool over_network_only;
  int max_ranks;
  std::size_t max_bytes;  ///< bytes of the vector, or of a block
  Algorithm algorithm;
};
constexpr std::array kRows{
    Row{Operation::kAllReduce, true, 3, 1024 * kKiB, Algorithm::kRecursiveDoubling},
    Row{Operation::kAllReduce, true, 3, 4096 * kKiB, Algorithm::kHalvingDoubling},
    Row{Operation::kAllReduce, true, kAnyRanks, 64 * kKiB, Algorithm::kRecursiveDoubling},
    Row{Operation::kAllReduce, true, kAnyRanks, 1024 * kKiB, Algorithm::kHalvingDoubling},
    Row{Operation::kAllReduce, true, kAnyRanks, kAnySize, Algorithm::kSegmentedRing},
    Row{Operation::kAllReduce, false, kAnyRanks, kAnySize, Algorithm::kRing},
    Row{Operation::kReduceScatter, false, kAnyRanks, kAnySize, Algorithm::kRing},
    Row{Operation::kAllGather, false, kAnyRanks, kAnySize, Algorithm::kRing},
    Row{Operation::kBroadcast, false, kAnyRanks, kAnySize, Algorithm::kTree},
    Row{Operation::kAllToAll, false, kAnyRanks, kAnySize, Algorithm::kPairwise},
    Row{Operation::kBarrier, false, kAnyRanks, kAnySize, Algorithm::kDissemination},
    Row{Operation::kReduce, false, kAnyRanks, kAnySize, Algorithm::kTree},
    Row{Operation::kGather, false, kAnyRanks, kAnySize, Algorithm::kDirect},
    Row{Operation::kScatter, false, kAnyRanks, kAnySize, Algorithm::kDirect},
};

}  // namespace

Algorithm algorithmFor(const Request& request) {
  const auto forced = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return each.operation == request.operation && each.algorithm == request.forced;
  });
  if (forced != kRows.end()) return forced->algorithm;
  const std::size_t bytes =
      request.count > kAnySize / request.element_bytes ? kAnySize : request.count * request.element_bytes;
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return each.operation == request.operation && request.ranks <= each.max_ranks &&
           bytes <= each.max_bytes && (request.over_network || !each.over_network_only);
  });
  POP_CHECK(row != kRows.end());
  return row->algorithm;
}

std::size_t segmentCount(std::size_t element_bytes) {
  return kSegmentBlockBytes / element_bytes;
}

const char* nameOf(Algorithm algorithm) {
  constexpr const char* kNames[] = {"ring", "segmented-ring", "recursive-doubling", "halving-doubling",
                                    "tree", "pairwise",       "dissemination",      "direct"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::vector<Algorithm> algorithmsOf(Operation operation) {
  std::vector<Algorithm> algorithms;
  for (const Row& row : kRows) {
    const bool known = std::find(algorithms.begin(), algorithms.end(), row.algorithm) != algorithms.end();
    if (row.operation == operation && !known) algorithms.push_back(row.algorithm);
  }
  return algorithms;
}

Plan planCollective(const Request& r) {
  const auto of_each = [&r] { return std::vector<std::size_t>(static_cast<std::size_t>(r.ranks), r.count); };
  switch (r.operation) {
    case Operation::kAllReduce:
      return allReduce(r, algorithmFor(r));
    case Operation::kReduceScatter:
      return plan::planRingReduceScatter(r.rank, r.ranks, r.count, segmentCount(r.element_bytes));
    case Operation::kAllGather:
      return plan::planRingAllGather(r.rank, r.ranks, r.count);
    case Operation::kBroadcast:
      return plan::planTreeBroadcast(r.rank, r.ranks, r.root, r.count);
    case Operation::kAllToAll:
      return plan::planPairwiseAllToAll(r.rank, r.ranks, r.count);
    case Operation::kReduce:
      return treeReduce(r);
    case Operation::kGather:
      return plan::planMoves(plan::gatherFlows(of_each(), r.root), r.rank);
    case Operation::kScatter:
      return plan::planMoves(plan::scatterFlows(of_each(), r.root), r.rank);
    default:
      POP_CHECK(r.operation == Operation::kBarrier);
      return plan::planDisseminationBarrier(r.rank, r.ranks);
  }
}

}  // namespace popdist::choice
