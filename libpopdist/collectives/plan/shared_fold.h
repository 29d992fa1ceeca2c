// SPDX-License-Identifier: Apache-2.0
// Reductions in shared memory. The vector is cut into one block per rank, and each rank reduces its block for
// all: the result is bit-identical on all ranks.
#pragma once

#include <cstddef>
#include <memory>

#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/collectives/plan/shared_plan.h"
#include "libpopdist/collectives/plan/staged_plan.h"

namespace popdist::plan {

/// Block `index` of `bytes`, in bytes, cut at cache lines, so that no two ranks write to the same one.
Range lineBlock(std::size_t bytes, int blocks, int index);

enum class FoldGoal : std::uint8_t { kAllReduce, kReduceScatter, kReduce };

struct FoldRequest {
  FoldGoal goal = FoldGoal::kAllReduce;
  int rank = 0;
  int ranks = 1;
  std::size_t count = 0;  ///< elements of the whole vector; for kReduceScatter a multiple of `ranks`
  std::size_t element_bytes = 1;
  int root = 0;  ///< kReduce
};

/// Each rank puts its whole vector into its stage and reduces what it needs: one wait, but n times the
/// reduction. For small vectors, which fit into a stage.
SharedPlan eagerFold(const FoldRequest& request, EagerOrder order);

/// Through the stages, a chunk of the vector at a time: what others own of a chunk is exported, the own block
/// reduced and left in all others' stages, the others' blocks imported from the own one. Three chunks are
/// under way at a time, one in each of these, so `shape` needs at least 3 slots. Each rank reads and writes
/// its buffers alone: they may be anywhere. Copies 2 (n-1)/n of the vector besides the reduction.
std::unique_ptr<StagedPlan> stagedFold(const FoldRequest& request, const StageShape& shape);

/// Works in all ranks' buffers: every input must be readable by all, and outputs must be writable by the
/// ranks that own parts of them (kAllReduce: all outputs; kReduce: the root's). One pass over the data, and
/// one wait at its end.
SharedPlan directFold(const FoldRequest& request);

/// The same where ranks cannot write to each other's memory: results are fetched from the outputs of the
/// ranks that made them. For kAllReduce and kReduceScatter. One more wait.
SharedPlan pulledFold(const FoldRequest& request);

}  // namespace popdist::plan
