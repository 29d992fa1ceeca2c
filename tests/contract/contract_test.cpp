// SPDX-License-Identifier: Apache-2.0
// The contract of every way of carrying out collectives: the right result, bit by bit, for every operation,
// type, operator, count, root and kind of memory. Ranks are threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/base/random.h"
#include "tests/contract/by_name.h"
#include "tests/contract/grids.h"
#include "tests/contract/ways.h"
#include "tests/testing/thread_group.h"

namespace popdist::contract {
namespace {

using testing::ThreadGroup;

class Contract : public ::testing::TestWithParam<std::tuple<Way, int>> {
 protected:
  const Way& way() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }

  /// All of it: under AddressSanitizer, which looks at memory and not at results, so that each two values of
  /// operation, type, operator, count, root, place, kind of memory and way meet in some call.
  Grid testedOf(const Grid& grid) const {
#ifdef __SANITIZE_ADDRESS__
    const std::vector<Way>& ways = allWays();
    const auto is_mine = [this](const Way& each) { return each.name == way().name; };
    const auto mine = std::find_if(ways.begin(), ways.end(), is_mine);
    return pairsOf(grid, static_cast<std::size_t>(mine - ways.begin()), ways.size());
#else
    return grid;
#endif
  }

  /// A few calls in each group, so that each group is done long before its deadline on a busy machine.
  void run(const Grid& grid) const {
    const WayTaken taken(way());
    const Grid tested = testedOf(grid);
    for (std::size_t begin = 0; begin < tested.calls.size(); begin += tested.at_once) {
      const auto first = tested.calls.begin() + static_cast<std::ptrdiff_t>(begin);
      Grid some = tested;
      some.calls.assign(
          first, first + static_cast<std::ptrdiff_t>(std::min(tested.at_once, tested.calls.size() - begin)));
      ThreadGroup group(shapeOf(way(), ranks()));
      group.run([&](Context& context) {
        std::size_t calls = 0;
        ASSERT_EQ(runGrid(context, membersOf(context.world()), some, !way().in_rank_order, calls), "");
      });
    }
  }
};

TEST_P(Contract, HoldsForEveryTypeAndOperator) {
  run(everyTypeAndOperator(ranks()));
}

TEST_P(Contract, HoldsForEveryCount) {
  run(everyCount(ranks()));
}

TEST_P(Contract, HoldsForCountsBeyondAllStages) {
  run(countsBeyondAllStages(ranks()));
}

TEST_P(Contract, HoldsForEveryRoot) {
  run(everyRoot(ranks()));
}

TEST_P(Contract, HoldsInPlaceAndUnalignedInAnyMemory) {
  run(inPlaceAndUnaligned());
}

TEST_P(Contract, HoldsForCountsThatDifferBetweenRanks) {
  run(countsThatDiffer());
}

TEST_P(Contract, HoldsForCallsByNameAndFusedOnes) {
  const WayTaken taken(way());
  ThreadGroup group(shapeOf(way(), ranks()));
  group.run([&](Context& context) {
    AsyncCommunicator members(context.createCommunicator(everybody(context)));
    ASSERT_EQ(runByName(context, members, 500, 60, !way().in_rank_order), "");
    ASSERT_EQ(runFused(context, members, 500, !way().in_rank_order), "");
  });
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

#ifdef __SANITIZE_ADDRESS__
const std::vector<int> kWorldSizes{1, 3, 4};
#else
const std::vector<int> kWorldSizes{1, 2, 3, 4, 8};
#endif

INSTANTIATE_TEST_SUITE_P(Ways, Contract,
                         ::testing::Combine(::testing::ValuesIn(allWays()), ::testing::ValuesIn(kWorldSizes)),
                         nameOfTest);

}  // namespace
}  // namespace popdist::contract
