// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/grids.h"

#include "libpopdist/src/plan/stage_layout.h"

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

}  // namespace

Grid everyTypeAndOperator(int ranks) {
  Grid grid;
  for (const Operation operation : kOperations) {
    for (int type = 0; type < 13; ++type) {
      for (const Operator op : operatorsOf(operation, static_cast<Type>(type))) {
        for (const std::size_t count : {3U, 1000U})
          grid.cases.push_back({.operation = operation,
                                .type = static_cast<Type>(type),
                                .op = op,
                                .count = count,
                                .root = ranks - 1,
                                .seed = grid.cases.size()});
      }
    }
  }
  return grid;
}

Grid everyCount(int ranks) {
  Grid grid{.memories = {Memory::kPrivate, Memory::kShared}};
  for (const Operation operation : kOperations) {
    for (const std::size_t count : {0U, 1U, 3U, 10U, 11U, 16U, 1000U, 70'001U})
      grid.cases.push_back({.operation = operation, .count = count, .root = ranks / 2, .seed = count});
  }
  return grid;
}

Grid countsBeyondAllStages(int ranks) {
  const plan::StageShape stage = plan::stageLayoutFor(ranks).slots;
  const std::size_t beyond = stage.slots * stage.slot_bytes / sizeof(double) + 75'003;
  Grid grid{.memories = {Memory::kPrivate, Memory::kShared}, .at_once = 1};
  for (const Operation operation : kOperations) {
    const bool one_block = operation == Operation::kAllReduce || operation == Operation::kReduce ||
                           operation == Operation::kBroadcast || operation == Operation::kSendRecv;
    const std::size_t count = beyond / static_cast<std::size_t>(one_block ? 1 : ranks);
    grid.cases.push_back(
        {.operation = operation, .type = Type::kDouble, .count = count, .root = 0, .seed = 3});
  }
  return grid;
}

Grid everyRoot(int ranks) {
  Grid grid;
  for (const Operation operation : kOperations) {
    if (!hasRoot(operation)) continue;
    for (int root = 0; root < ranks; ++root) {
      for (const std::size_t count : {2U, 5000U})
        grid.cases.push_back({.operation = operation, .count = count, .root = root, .seed = count});
    }
  }
  return grid;
}

Grid inPlaceAndUnaligned() {
  Grid grid{.memories = {Memory::kPrivate, Memory::kShared, Memory::kMixed}, .unaligned = true};
  for (const Operation operation : kOperations) {
    for (const Type type : {Type::kInt8, Type::kHalf, Type::kDouble}) {
      for (const std::size_t count : {5U, 777U, 20'003U}) {
        if (count > 1000 && type != Type::kDouble) continue;
        for (const bool in_place : {false, true}) {
          if (in_place && !canBeInPlace(operation)) continue;
          grid.cases.push_back({.operation = operation,
                                .type = type,
                                .count = count,
                                .root = 0,
                                .in_place = in_place,
                                .seed = grid.cases.size()});
        }
      }
    }
  }
  return grid;
}

Grid countsThatDiffer() {
  Grid grid{.memories = {Memory::kPrivate, Memory::kShared, Memory::kMixed}};
  for (const Operation operation : {Operation::kAllGather, Operation::kAllToAll, Operation::kSendRecv}) {
    for (const std::size_t count : {0U, 1U, 7U, 3000U, 100'000U}) {
      for (const bool in_place : {false, true})
        grid.cases.push_back({.operation = operation,
                              .type = Type::kInt32,
                              .count = count,
                              .in_place = in_place && canBeInPlace(operation),
                              .ragged = true,
                              .seed = grid.cases.size()});
    }
  }
  return grid;
}

Grid blocksOfSeveralSegments() {
  Grid grid;
  for (const bool in_place : {false, true})
    grid.cases.push_back({.operation = Operation::kReduceScatter, .count = 1'100'000, .in_place = in_place});
  return grid;
}

std::vector<Grid> allGrids(int ranks) {
  return {everyTypeAndOperator(ranks), everyCount(ranks),  countsBeyondAllStages(ranks), everyRoot(ranks),
          inPlaceAndUnaligned(),       countsThatDiffer(), blocksOfSeveralSegments()};
}

std::string runGrid(Context& context, const Members& members, const Grid& grid, bool exact,
                    std::size_t& calls) {
  for (const Memory memory : grid.memories) {
    for (Case tested : grid.cases) {
      tested.exact = exact;
      ++calls;
      const std::string wrong = runCase(context, members, tested, memory, grid.unaligned);
      if (!wrong.empty()) return wrong + ", in " + nameOf(memory) + " memory";
    }
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
