// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/grids.h"

#include "libpopdist/collectives/plan/stage_layout.h"

namespace popdist::contract {
namespace {

constexpr Operation kOperations[] = {Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                                     Operation::kBroadcast, Operation::kAllToAll,      Operation::kBarrier,
                                     Operation::kReduce,    Operation::kGather,        Operation::kScatter,
                                     Operation::kSendRecv};

std::vector<Operator> operatorsOf(Operation operation, Type type) {
  std::vector<Operator> operators;
  for (int op = 0; op < 11; ++op) {
    if (supports(static_cast<Operator>(op), type)) operators.push_back(static_cast<Operator>(op));
  }
  if (!reduces(operation)) operators.resize(1);
  return operators;
}

Grid inEach(const std::vector<Memory>& memories, const std::vector<Case>& cases) {
  Grid grid;
  for (const Memory memory : memories) {
    for (const Case& tested : cases) grid.calls.push_back({tested, memory});
  }
  return grid;
}

}  // namespace

Grid everyTypeAndOperator(int ranks) {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    for (int type = 0; type < 13; ++type) {
      for (const Operator op : operatorsOf(operation, static_cast<Type>(type))) {
        for (const std::size_t count : {3U, 1000U})
          cases.push_back({.operation = operation,
                           .type = static_cast<Type>(type),
                           .op = op,
                           .count = count,
                           .root = ranks - 1,
                           .seed = cases.size()});
      }
    }
  }
  return inEach({Memory::kPrivate}, cases);
}

Grid everyCount(int ranks) {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    for (const std::size_t count : {0U, 1U, 3U, 10U, 11U, 16U, 1000U, 70'001U})
      cases.push_back({.operation = operation, .count = count, .root = ranks / 2, .seed = count});
  }
  return inEach({Memory::kPrivate, Memory::kShared}, cases);
}

Grid countsBeyondAllStages(int ranks) {
  const plan::StageShape stage = plan::stageLayoutFor(ranks).slots;
  const std::size_t beyond = stage.slots * stage.slot_bytes / sizeof(double) + 75'003;
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    const bool one_block = operation == Operation::kAllReduce || operation == Operation::kReduce ||
                           operation == Operation::kBroadcast || operation == Operation::kSendRecv;
    const std::size_t count = beyond / static_cast<std::size_t>(one_block ? 1 : ranks);
    cases.push_back({.operation = operation, .type = Type::kDouble, .count = count, .root = 0, .seed = 3});
  }
  Grid grid = inEach({Memory::kPrivate, Memory::kShared}, cases);
  grid.at_once = 1;
  return grid;
}

Grid everyRoot(int ranks) {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    if (!hasRoot(operation)) continue;
    for (int root = 0; root < ranks; ++root) {
      for (const std::size_t count : {2U, 5000U})
        cases.push_back({.operation = operation, .count = count, .root = root, .seed = count});
    }
  }
  return inEach({Memory::kPrivate}, cases);
}

Grid inPlaceAndUnaligned() {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    for (const Type type : {Type::kInt8, Type::kHalf, Type::kDouble}) {
      for (const std::size_t count : {5U, 777U, 20'003U}) {
        if (count > 1000 && type != Type::kDouble) continue;
        for (const bool in_place : {false, true}) {
          if (in_place && !canBeInPlace(operation)) continue;
          cases.push_back({.operation = operation,
                           .type = type,
                           .count = count,
                           .root = 0,
                           .in_place = in_place,
                           .seed = cases.size()});
        }
      }
    }
  }
  Grid grid = inEach({Memory::kPrivate, Memory::kShared, Memory::kMixed}, cases);
  grid.unaligned = true;
  return grid;
}

Grid countsThatDiffer() {
  std::vector<Case> cases;
  for (const Operation operation : {Operation::kAllGather, Operation::kAllToAll, Operation::kSendRecv}) {
    for (const std::size_t count : {0U, 1U, 7U, 3000U, 100'000U}) {
      for (const bool in_place : {false, true})
        cases.push_back({.operation = operation,
                         .type = Type::kInt32,
                         .count = count,
                         .in_place = in_place && canBeInPlace(operation),
                         .ragged = true,
                         .seed = cases.size()});
    }
  }
  return inEach({Memory::kPrivate, Memory::kShared, Memory::kMixed}, cases);
}

Grid blocksOfSeveralSegments() {
  std::vector<Case> cases;
  for (const bool in_place : {false, true})
    cases.push_back({.operation = Operation::kReduceScatter, .count = 1'100'000, .in_place = in_place});
  return inEach({Memory::kPrivate}, cases);
}

std::vector<Grid> allGrids(int ranks) {
  return {everyTypeAndOperator(ranks), everyCount(ranks),  countsBeyondAllStages(ranks), everyRoot(ranks),
          inPlaceAndUnaligned(),       countsThatDiffer(), blocksOfSeveralSegments()};
}

std::string runGrid(Context& context, const Members& members, const Grid& grid, bool exact,
                    std::size_t& calls) {
  for (GridCall call : grid.calls) {
    call.tested.exact = exact;
    ++calls;
    const std::string wrong = runCase(context, members, call.tested, call.memory, grid.unaligned);
    if (!wrong.empty()) return wrong + ", in " + nameOf(call.memory) + " memory";
  }
  return "";
}

std::string runSequence(Context& context, const Members& members, std::uint64_t seed, std::size_t calls,
                        bool exact) {
  for (std::uint64_t call = 0; call < calls; ++call) {
    Case tested = randomCase(seed + call, members.ranks, 600'000 / static_cast<std::size_t>(members.ranks));
    tested.exact = exact;
    std::string wrong = runCase(context, members, tested, static_cast<Memory>(call % 3), call % 2 == 0);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace popdist::contract
