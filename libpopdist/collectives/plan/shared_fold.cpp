// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/shared_fold.h"

#include <algorithm>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

Range lineBlock(std::size_t bytes, int blocks, int index) {
  const std::size_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  const Range range = blockRange(lines, blocks, index);
  const std::size_t begin = std::min(range.begin * kLineBytes, bytes);
  return {begin, std::min((range.begin + range.count) * kLineBytes, bytes) - begin};
}

namespace {

// The part of the vector that `rank` reduces, in bytes; for a reduce-scatter its own block.
Range blockOf(const FoldRequest& request, int rank) {
  const std::size_t bytes = request.count * request.element_bytes;
  if (request.goal != FoldGoal::kReduceScatter) return lineBlock(bytes, request.ranks, rank);
  const std::size_t block = bytes / static_cast<std::size_t>(request.ranks);
  return {block * static_cast<std::size_t>(rank), block};
}

// The chunks of a staged fold. A reduce-scatter has fixed blocks for the ranks; each chunk holds a piece of
// each block.
struct FoldCut {
  std::size_t block_bytes = 0;
  std::size_t piece_bytes = 0;
  std::size_t whole_bytes = 0;  ///< bytes that are cut into chunks
  std::uint64_t chunks = 0;
};

FoldCut cutOf(const FoldRequest& request, const StageShape& shape) {
  const std::size_t vector_bytes = request.count * request.element_bytes;
  const auto ranks = static_cast<std::size_t>(request.ranks);
  FoldCut cut{.block_bytes = vector_bytes / ranks,
              .piece_bytes = shape.slot_bytes / ranks / kLineBytes * kLineBytes};
  const bool scatters = request.goal == FoldGoal::kReduceScatter;
  const std::size_t chunk_bytes = scatters ? cut.piece_bytes : shape.slot_bytes;
  cut.whole_bytes = scatters ? cut.block_bytes : vector_bytes;
  cut.chunks = (cut.whole_bytes + chunk_bytes - 1) / chunk_bytes;
  return cut;
}

// The chunks of a staged fold, as one rank sees them.
class StagedFold final : public StagedPlan {
 public:
  StagedFold(const FoldRequest& request, const StageShape& shape, const FoldCut& cut)
      : StagedPlan(cut.chunks, 2), request_(request), shape_(shape), cut_(cut) {}

 private:
  void addTurn(std::uint64_t turn) override {
    if (isUnderWay(turn, 0)) exportChunk(turn);
    if (turn == 1) meet();  // steps that wait for no other rank come first
    if (isUnderWay(turn, 1)) foldChunk(turn - 1);
    if (isUnderWay(turn, 2)) importChunk(turn - 2);
  }

  bool scatters() const { return request_.goal == FoldGoal::kReduceScatter; }
  bool imports() const {
    return request_.goal == FoldGoal::kAllReduce ||
           (request_.goal == FoldGoal::kReduce && request_.rank == request_.root);
  }

  // The part of a chunk that `rank` owns: its place in the vector and in the stage.
  struct Piece {
    std::size_t vector = 0;
    std::size_t stage = 0;
    std::size_t bytes = 0;
  };
  Piece pieceOf(int rank, std::uint64_t chunk) const {
    if (scatters()) {
      const std::size_t begin = chunk * cut_.piece_bytes;
      const auto index = static_cast<std::size_t>(rank);
      return {index * cut_.block_bytes + begin, index * cut_.piece_bytes,
              std::min(cut_.piece_bytes, cut_.whole_bytes - begin)};
    }
    const std::size_t begin = chunk * shape_.slot_bytes;
    const Range block =
        lineBlock(std::min(shape_.slot_bytes, cut_.whole_bytes - begin), request_.ranks, rank);
    return {begin + block.begin, block.begin, block.count};
  }

  void exportChunk(std::uint64_t chunk) {
    awaitSlot(chunk, shape_);
    for (int rank = 0; rank < request_.ranks; ++rank) {
      const Piece piece = pieceOf(rank, chunk);
      if (rank != request_.rank)
        add({.kind = SharedStepKind::kExport,
             .input = piece.vector,
             .stage = piece.stage,
             .bytes = piece.bytes,
             .chunk = chunk});
    }
    post(Counter::kExported, chunk + 1);
  }

  void foldChunk(std::uint64_t chunk) {
    await(Counter::kExported, chunk + 1);
    const Piece piece = pieceOf(request_.rank, chunk);
    const std::size_t output = scatters() ? chunk * cut_.piece_bytes : piece.vector;
    add({.kind = SharedStepKind::kFold,
         .targets = targets(),
         .input = piece.vector,
         .output = output,
         .stage = piece.stage,
         .bytes = piece.bytes,
         .chunk = chunk});
    post(Counter::kFolded, chunk + 1);
  }

  std::uint8_t targets() const {
    if (scatters()) return kOwnOutput | kWrittenBack;
    return imports() ? kOwnOutput | kOthersStages : kOthersStages;
  }

  void importChunk(std::uint64_t chunk) {
    if (imports()) {
      await(Counter::kFolded, chunk + 1);
      for (int rank = 0; rank < request_.ranks; ++rank) {
        const Piece piece = pieceOf(rank, chunk);
        if (rank != request_.rank)
          add({.kind = SharedStepKind::kImport,
               .rank = request_.rank,
               .output = piece.vector,
               .stage = piece.stage,
               .bytes = piece.bytes,
               .chunk = chunk});
      }
    }
    post(Counter::kDone, chunk + 1);
  }

  const FoldRequest request_;
  const StageShape shape_;
  const FoldCut cut_;
};

}  // namespace

std::unique_ptr<StagedPlan> stagedFold(const FoldRequest& request, const StageShape& shape) {
  return std::make_unique<StagedFold>(request, shape, cutOf(request, shape));
}

SharedPlan directFold(const FoldRequest& request) {
  const Range own = blockOf(request, request.rank);
  SharedStep fold{.kind = SharedStepKind::kFoldFrom,
                  .targets = kAllOutputs,
                  .input = own.begin,
                  .output = own.begin,
                  .bytes = own.count};
  if (request.goal == FoldGoal::kReduce) fold.targets = kRankOutput, fold.rank = request.root;
  if (request.goal == FoldGoal::kReduceScatter) fold.targets = kOwnOutput, fold.output = 0;
  SharedPlan plan{.steps = {{.kind = SharedStepKind::kMeet}}};
  if (fold.bytes > 0) plan.steps.push_back(fold);
  partTogether(plan);
  return plan;
}

SharedPlan pulledFold(const FoldRequest& request) {
  const bool scatters = request.goal == FoldGoal::kReduceScatter;
  SharedPlan plan{.steps = {{.kind = SharedStepKind::kMeet}}};
  if (const Range own = blockOf(request, request.rank); own.count > 0)
    plan.steps.push_back({.kind = SharedStepKind::kFoldFrom,
                          .targets = kOwnOutput,
                          .input = own.begin,
                          .output = scatters ? 0 : own.begin,
                          .bytes = own.count});
  if (!scatters) {
    plan.steps.push_back({.kind = SharedStepKind::kPost, .counter = Counter::kFolded, .value = 1});
    plan.steps.push_back({.kind = SharedStepKind::kAwait, .counter = Counter::kFolded, .value = 1});
    for (int distance = 1; distance < request.ranks; ++distance) {
      const int rank = (request.rank + distance) % request.ranks;
      const Range theirs = blockOf(request, rank);
      if (theirs.count > 0)
        plan.steps.push_back({.kind = SharedStepKind::kTake,
                              .rank = rank,
                              .input = theirs.begin,
                              .output = theirs.begin,
                              .bytes = theirs.count});
    }
  }
  partTogether(plan);
  return plan;
}

SharedPlan eagerFold(const FoldRequest& request, EagerOrder order) {
  const std::size_t bytes = request.count * request.element_bytes;
  SharedPlan plan{.eager = true};
  exportAndMeet(plan, bytes, order);
  SharedStep fold{.kind = SharedStepKind::kFold, .targets = kOwnOutput, .bytes = bytes};
  if (request.goal == FoldGoal::kReduce && request.rank != request.root) fold.bytes = 0;
  if (request.goal == FoldGoal::kReduceScatter) {
    const Range own = blockOf(request, request.rank);
    fold.input = fold.stage = own.begin;
    fold.bytes = own.count;
  }
  if (fold.bytes > 0) plan.steps.push_back(fold);
  return plan;
}

}  // namespace popdist::plan
