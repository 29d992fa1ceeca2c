// SPDX-License-Identifier: Apache-2.0
// Every collective, for every element type, between ranks that are threads with rings of shared memory
// between them; mostly more of them than there are cores.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <string>

#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/exec/collective_samples.h"
#include "tests/unit/libpopdist/collectives/messages/exec/shm_call.h"

namespace popdist::exec {
namespace {

using plan::Operation;

constexpr std::array kMovers{Operation::kBroadcast, Operation::kAllGather, Operation::kAllToAll};
constexpr std::array kReducers{Operation::kAllReduce, Operation::kReduceScatter};
constexpr std::size_t kMoreThanARing = 100'003;

// One rank's walk through the same calls that all others make.
class Rank {
 public:
  Rank(transport::ShmWorld& world, int rank, std::uint64_t first_sequence)
      : world_(world), rank_(rank), sequence_(first_sequence) {}

  std::uint64_t nextSequence() const { return sequence_; }

  template <typename T>
  void run(Operation operation, std::size_t count) {
    const int root = static_cast<int>(sequence_ % static_cast<std::uint64_t>(world_.size()));
    const Samples<T> samples(operation, rank_, world_.size(), count, root);
    Elements<T> input = samples.input();
    const Elements<T> input_before = input;
    Elements<T> separate_output = samples.inPlace() ? Elements<T>(0) : samples.untouchedOutput();
    Elements<T>& output = samples.inPlace() ? input : separate_output;
    const Failure failure = call(
        world_,
        {.operation = operation, .type = typeOf<T>(), .count = count, .root = root, .sequence = sequence_++},
        {{rank_, input.data(), output.data()}});
    ASSERT_TRUE(failure.status.ok()) << failure.status.message();
    const Elements<T> expected = samples.expected();
    EXPECT_TRUE(output == expected) << describe<T>(operation, count) << ", element "
                                    << output.firstDifference(expected);
    if (!samples.inPlace()) {
      EXPECT_TRUE(input == input_before) << describe<T>(operation, count) << ": changed its input";
    }
  }

  template <typename T>
  void runAll(const std::set<std::size_t>& counts) {
    for (const std::size_t count : counts) {
      for (const Operation operation : kMovers) run<T>(operation, count);
      if constexpr (!std::is_same_v<T, bool>) {
        for (const Operation operation : kReducers) run<T>(operation, count);
      }
    }
  }

 private:
  template <typename T>
  std::string describe(Operation operation, std::size_t count) const {
    return std::string(nameOf(operation)) + " of " + std::to_string(count) + " x " +
           popdist::nameOf(typeOf<T>()) + " on rank " + std::to_string(rank_) + " of " +
           std::to_string(world_.size());
  }

  transport::ShmWorld& world_;
  const int rank_;
  std::uint64_t sequence_;
};

class Collectives : public ::testing::TestWithParam<int> {
 protected:
  /// One group of threads: only a few calls, so that it is done long before its deadline on a busy machine.
  /// Each group goes on with the roots where the one before it has ended.
  template <typename Body>
  void onEveryRank(const Body& body) {
    transport::ShmWorld world = transport::ShmWorld::oneRankEach(GetParam());
    const std::uint64_t first = next_sequence_;
    testing::runThreads(GetParam(), [&](int index) {
      Rank rank(world, index, first);
      body(rank);
      if (index == 0) next_sequence_ = rank.nextSequence();
    });
  }

  template <typename... Types>
  void runAllOfEach(const std::set<std::size_t>& counts) {
    (onEveryRank([&](Rank& rank) { rank.runAll<Types>(counts); }), ...);
  }

 private:
  std::uint64_t next_sequence_ = 0;
};

TEST_P(Collectives, GiveExactResultsForEveryType) {
  const auto n = static_cast<std::size_t>(GetParam());
  const std::set<std::size_t> counts{0, 1, n - 1, n + 1, 1000};
  runAllOfEach<float, double, half, bfloat16, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
               std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, bool>(counts);
}

TEST_P(Collectives, GiveExactResultsForVectorsThatNoRingHolds) {
  constexpr std::size_t kManyRings = kMoreThanARing * 4;
  onEveryRank([](Rank& rank) { rank.runAll<float>({kMoreThanARing}); });
  onEveryRank([](Rank& rank) { rank.run<double>(Operation::kAllReduce, kManyRings); });
  onEveryRank([](Rank& rank) { rank.run<std::uint16_t>(Operation::kBroadcast, kManyRings); });
}

TEST_P(Collectives, LeaveABarrierOnlyWhenAllHaveEntered) {
  constexpr int kTurns = 50;
  const int ranks = GetParam();
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(ranks);
  std::atomic<int> entered = 0;
  testing::runThreads(ranks, [&](int rank) {
    for (int turn = 1; turn <= kTurns; ++turn) {
      ++entered;
      const std::uint8_t token = 0;
      std::uint8_t ignored = 0;
      const Failure failure =
          call(world, {.sequence = static_cast<std::uint64_t>(turn)}, {{rank, &token, &ignored}});
      ASSERT_TRUE(failure.status.ok()) << failure.status.message();
      ASSERT_GE(entered.load(), turn * ranks);
    }
  });
}

TEST_P(Collectives, MixWithoutAnyoneWaitingInBetween) {
  constexpr int kTurnsAtOnce = 25;
  for (int begin = 0; begin < 100; begin += kTurnsAtOnce) {
    onEveryRank([begin](Rank& rank) {
      for (int turn = begin; turn < begin + kTurnsAtOnce; ++turn) {
        rank.run<std::int32_t>(Operation::kBroadcast, 700);
        rank.run<float>(Operation::kAllReduce, static_cast<std::size_t>(turn * 5));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, ::testing::Values(1, 2, 3, 4, 5, 7, 8, kMostRanks),
                         [](const auto& param_info) { return std::to_string(param_info.param); });

// Spinning waits, as when every rank has a core of its own.
TEST(CollectivesWithACoreEach, GiveTheSameResults) {
  transport::ShmWorld world = transport::ShmWorld::oneRankEach(2);
  testing::runThreads(2, [&](int rank) {
    for (std::uint64_t sequence = 0; sequence < 300; ++sequence) {
      float value = static_cast<float>(rank + 1);
      const Failure failure = call(world,
                                   {.operation = Operation::kAllReduce,
                                    .type = Type::kFloat,
                                    .sequence = sequence,
                                    .oversubscribed = false},
                                   {{rank, &value, &value}});
      ASSERT_TRUE(failure.status.ok());
      ASSERT_EQ(value, 3.0F);
    }
  });
}

}  // namespace
}  // namespace popdist::exec
