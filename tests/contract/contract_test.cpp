// SPDX-License-Identifier: Apache-2.0
// What every way of carrying out collectives must do: the right result, bit by bit, for every operation,
// type, operator, count, root and kind of memory. Ranks are threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/src/plan/shared_select.h"
#include "tests/contract/run_case.h"
#include "tests/contract/ways.h"
#include "tests/testing/thread_group.h"

namespace popdist::contract {
namespace {

using testing::ThreadGroup;

constexpr Operation kOperations[] = {Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                                     Operation::kBroadcast, Operation::kAllToAll,      Operation::kBarrier,
                                     Operation::kReduce,    Operation::kGather,        Operation::kScatter,
                                     Operation::kSendRecv};

class Contract : public ::testing::TestWithParam<std::tuple<Way, int>> {
 protected:
  const Way& way() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }

  /// Runs the cases that the way supports on all ranks, one after the other; a few in each group, so that
  /// each group is done long before its deadline on a busy machine.
  void run(std::vector<Case> cases, Memory memory, bool unaligned, std::size_t at_once = 40) const {
    std::erase_if(cases, [&](const Case& tested) { return !way().supports(tested); });
    for (Case& tested : cases) tested.exact = !way().in_rank_order;
    const WayTaken taken(way());
    for (std::size_t begin = 0; begin < cases.size(); begin += at_once) {
      const std::span<const Case> some =
          std::span(cases).subspan(begin, std::min(at_once, cases.size() - begin));
      ThreadGroup group(shapeOf(way(), ranks()));
      group.run([&](Context& context) {
        for (const Case& tested : some)
          ASSERT_EQ(runCase(context, context.world(), tested, memory, unaligned), "")
              << popdist::contract::nameOf(memory);
      });
    }
  }
};

std::vector<Operator> operatorsOf(Operation operation, Type type) {
  std::vector<Operator> operators;
  for (int op = 0; op < 11; ++op) {
    if (supports(static_cast<Operator>(op), type)) operators.push_back(static_cast<Operator>(op));
  }
  if (!reduces(operation)) operators.resize(1);
  return operators;
}

TEST_P(Contract, HoldsForEveryTypeAndOperator) {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    for (int type = 0; type < 13; ++type) {
      for (const Operator op : operatorsOf(operation, static_cast<Type>(type))) {
        for (const std::size_t count : {3U, 1000U})
          cases.push_back({.operation = operation,
                           .type = static_cast<Type>(type),
                           .op = op,
                           .count = count,
                           .root = ranks() - 1,
                           .seed = cases.size()});
      }
    }
  }
  run(cases, Memory::kPrivate, false);
}

TEST_P(Contract, HoldsForEveryCount) {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    for (const std::size_t count : {0U, 1U, 3U, 10U, 11U, 16U, 1000U, 70'001U})
      cases.push_back({.operation = operation, .count = count, .root = ranks() / 2, .seed = count});
  }
  run(cases, Memory::kPrivate, false);
  run(cases, Memory::kShared, false);
}

// More than a stage holds.
TEST_P(Contract, HoldsForCountsBeyondAllStages) {
  const plan::StageShape stage = plan::stageLayoutFor(ranks()).slots;
  const std::size_t beyond = stage.slots * stage.slot_bytes / sizeof(double) + 75'003;
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    const bool one_block = operation == Operation::kAllReduce || operation == Operation::kReduce ||
                           operation == Operation::kBroadcast || operation == Operation::kSendRecv;
    const std::size_t count = beyond / static_cast<std::size_t>(one_block ? 1 : ranks());
    cases.push_back({.operation = operation, .type = Type::kDouble, .count = count, .root = 0, .seed = 3});
  }
  for (const Memory memory : {Memory::kPrivate, Memory::kShared}) run(cases, memory, false, 1);
}

TEST_P(Contract, HoldsForEveryRoot) {
  std::vector<Case> cases;
  for (const Operation operation : kOperations) {
    if (!hasRoot(operation)) continue;
    for (int root = 0; root < ranks(); ++root) {
      for (const std::size_t count : {2U, 5000U})
        cases.push_back({.operation = operation, .count = count, .root = root, .seed = count});
    }
  }
  run(cases, Memory::kPrivate, false);
}

TEST_P(Contract, HoldsInPlaceAndUnalignedInAnyMemory) {
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
  for (const Memory memory : {Memory::kPrivate, Memory::kShared, Memory::kMixed}) run(cases, memory, true);
}

TEST_P(Contract, HoldsForCountsThatDifferBetweenRanks) {
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
  for (const Memory memory : {Memory::kPrivate, Memory::kShared, Memory::kMixed}) run(cases, memory, false);
}

// Calls back to back, some ranks ahead of others.
TEST_P(Contract, HoldsForAnySequenceOfCalls) {
  constexpr int kCalls = 100;
  const WayTaken taken(way());
  ThreadGroup group(shapeOf(way(), ranks()));
  group.run([&](Context& context) {
    pop::SplitMix64 delays(static_cast<std::uint64_t>(context.world().rank()));
    for (std::uint64_t call = 0; call < kCalls; ++call) {
      Case tested = randomCase(1000 + call, ranks(), 600'000 / static_cast<std::size_t>(ranks()));
      tested.exact = !way().in_rank_order;
      if (!way().supports(tested)) continue;
      for (std::uint64_t turns = delays.below(8); turns > 0; --turns) std::this_thread::yield();
      ASSERT_EQ(runCase(context, context.world(), tested, static_cast<Memory>(call % 3), call % 2 == 0), "");
    }
  });
}

// Two communicators of some instances at once, and one of all between.
TEST_P(Contract, HoldsOnCommunicatorsOfSomeInstances) {
  if (ranks() < 3) return;
  const WayTaken taken(way());
  ThreadGroup group(shapeOf(way(), ranks()));
  group.run([&](Context& context) {
    std::set<unsigned> even;
    std::set<unsigned> odd;
    for (int instance = 0; instance < ranks(); ++instance)
      (instance % 2 == 0 ? even : odd).insert(static_cast<unsigned>(instance));
    const auto first = context.createCommunicator(even);
    const auto second = context.createCommunicator(odd);
    Communicator& mine = first ? *first : *second;
    for (std::uint64_t call = 0; call < 20; ++call) {
      for (Communicator* const communicator : {&mine, &context.world()}) {
        Case tested = randomCase(call, communicator->size(), 30'000);
        tested.exact = !way().in_rank_order;
        if (!way().supports(tested)) continue;
        ASSERT_EQ(runCase(context, *communicator, tested, Memory::kMixed, false), "");
      }
    }
  });
}

// Elements whose sum depends on the order.
Bytes awkwardSum(const Way& way, int ranks, int which) {
  std::vector<Bytes> results(static_cast<std::size_t>(ranks));
  const WayTaken taken(way);
  ThreadGroup group(shapeOf(way, ranks));
  group.run([&](Context& context) {
    const Case tested{.count = 30'011, .seed = 5};
    Bytes data = inputOf(tested, context.world().rank(), ranks);
    context.world().allReduce(data.data(), data.data(), tested.count, tested.type);
    results[static_cast<std::size_t>(context.world().rank())] = data;
  });
  for (const Bytes& result : results) EXPECT_EQ(result == results.front(), true) << "run " << which;
  return results.front();
}

TEST_P(Contract, HoldsBitByBitOnAllRanksAndInEveryRun) {
  const Bytes first = awkwardSum(way(), ranks(), 0);
  for (int run = 1; run < 4; ++run) EXPECT_EQ(awkwardSum(way(), ranks(), run) == first, true);
}

std::string nameOfTest(const ::testing::TestParamInfo<Contract::ParamType>& tested) {
  return std::get<0>(tested.param).name + std::to_string(std::get<1>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(Ways, Contract,
                         ::testing::Combine(::testing::ValuesIn(allWays()), ::testing::Values(1, 2, 3, 4, 8)),
                         nameOfTest);

}  // namespace
}  // namespace popdist::contract
