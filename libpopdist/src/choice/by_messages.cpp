// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/choice/by_messages.h"

#include <algorithm>
#include <array>
#include <climits>

#include "common/base/check.h"
#include "libpopdist/src/plan/dissemination_barrier.h"
#include "libpopdist/src/plan/halving_doubling_all_reduce.h"
#include "libpopdist/src/plan/message_moves.h"
#include "libpopdist/src/plan/pairwise_all_to_all.h"
#include "libpopdist/src/plan/recursive_doubling_all_reduce.h"
#include "libpopdist/src/plan/ring_all_gather.h"
#include "libpopdist/src/plan/ring_all_reduce.h"
#include "libpopdist/src/plan/ring_reduce_scatter.h"
#include "libpopdist/src/plan/segments.h"
#include "libpopdist/src/plan/tree_broadcast.h"
#include "libpopdist/src/plan/tree_reduce.h"

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
static_assert(4 * kSegmentBlockBytes <= kMostScratchBytes);

Plan recursiveDoublingAllReduce(const Request& request) {
  return plan::planRecursiveDoublingAllReduce(request.rank, request.ranks, request.count);
}

Plan halvingDoublingAllReduce(const Request& request) {
  return plan::planHalvingDoublingAllReduce(request.rank, request.ranks, request.count);
}

Plan segmentedRingAllReduce(const Request& request) {
  return plan::planSegmentedRingAllReduce(request.rank, request.ranks, request.count,
                                          segmentCount(request.element_bytes));
}

Plan ringAllReduce(const Request& request) {
  return plan::planRingAllReduce(request.rank, request.ranks, request.count);
}

Plan ringReduceScatter(const Request& request) {
  return plan::planRingReduceScatter(request.rank, request.ranks, request.count,
                                     segmentCount(request.element_bytes));
}

Plan ringAllGather(const Request& request) {
  return plan::planRingAllGather(request.rank, request.ranks, request.count);
}

Plan treeBroadcast(const Request& request) {
  return plan::planTreeBroadcast(request.rank, request.ranks, request.root, request.count);
}

// Two ranks need nothing kept: one sends all, the other one reduces it as it comes.
Plan treeReduce(const Request& request) {
  const std::size_t segment = segmentCount(request.element_bytes);
  return plan::inSegments(
      request.count, request.ranks > 2 ? segment : std::max(request.count, segment), [&](plan::Range part) {
        return plan::planTreeReduce(request.rank, request.ranks, request.root, part.count);
      });
}

Plan pairwiseAllToAll(const Request& request) {
  return plan::planPairwiseAllToAll(request.rank, request.ranks, request.count);
}

Plan disseminationBarrier(const Request& request) {
  return plan::planDisseminationBarrier(request.rank, request.ranks);
}

std::vector<std::size_t> equalCounts(const Request& request) {
  return std::vector<std::size_t>(static_cast<std::size_t>(request.ranks), request.count);
}

Plan directGather(const Request& request) {
  return plan::planMoves(plan::gatherFlows(equalCounts(request), request.root), request.rank);
}

Plan directScatter(const Request& request) {
  return plan::planMoves(plan::scatterFlows(equalCounts(request), request.root), request.rank);
}

// The first row that fits is taken. The limits are measured: bench/tcp_all_reduce.
struct Row {
  Operation operation;
  bool over_network_only;
  int most_ranks;
  std::size_t most_bytes;  ///< of the vector, or of a block
  Algorithm algorithm;
  Plan (*plan)(const Request& request);
};
constexpr std::array kRows{
    Row{Operation::kAllReduce, true, 3, 1024 * kKiB, Algorithm::kRecursiveDoubling,
        recursiveDoublingAllReduce},
    Row{Operation::kAllReduce, true, 3, 4096 * kKiB, Algorithm::kHalvingDoubling, halvingDoublingAllReduce},
    Row{Operation::kAllReduce, true, kAnyRanks, 64 * kKiB, Algorithm::kRecursiveDoubling,
        recursiveDoublingAllReduce},
    Row{Operation::kAllReduce, true, kAnyRanks, 1024 * kKiB, Algorithm::kHalvingDoubling,
        halvingDoublingAllReduce},
    Row{Operation::kAllReduce, true, kAnyRanks, kAnySize, Algorithm::kSegmentedRing, segmentedRingAllReduce},
    Row{Operation::kAllReduce, false, kAnyRanks, kAnySize, Algorithm::kRing, ringAllReduce},
    Row{Operation::kReduceScatter, false, kAnyRanks, kAnySize, Algorithm::kRing, ringReduceScatter},
    Row{Operation::kAllGather, false, kAnyRanks, kAnySize, Algorithm::kRing, ringAllGather},
    Row{Operation::kBroadcast, false, kAnyRanks, kAnySize, Algorithm::kTree, treeBroadcast},
    Row{Operation::kAllToAll, false, kAnyRanks, kAnySize, Algorithm::kPairwise, pairwiseAllToAll},
    Row{Operation::kBarrier, false, kAnyRanks, kAnySize, Algorithm::kDissemination, disseminationBarrier},
    Row{Operation::kReduce, false, kAnyRanks, kAnySize, Algorithm::kTree, treeReduce},
    Row{Operation::kGather, false, kAnyRanks, kAnySize, Algorithm::kDirect, directGather},
    Row{Operation::kScatter, false, kAnyRanks, kAnySize, Algorithm::kDirect, directScatter},
};

const Row& rowFor(const Request& request) {
  const auto forced = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return each.operation == request.operation && each.algorithm == request.forced;
  });
  if (forced != kRows.end()) return *forced;
  const std::size_t bytes =
      request.count > kAnySize / request.element_bytes ? kAnySize : request.count * request.element_bytes;
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return each.operation == request.operation && request.ranks <= each.most_ranks &&
           bytes <= each.most_bytes && (request.over_network || !each.over_network_only);
  });
  POP_CHECK(row != kRows.end());
  return *row;
}

}  // namespace

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

Algorithm algorithmFor(const Request& request) {
  return rowFor(request).algorithm;
}

Plan planCollective(const Request& request) {
  return rowFor(request).plan(request);
}

}  // namespace popdist::choice
