// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/popdist.hpp"
#include "tests/testing/thread_group.h"

namespace popdist::choice {
namespace {

using std::chrono::nanoseconds;

constexpr Trials::Kind kKind{plan::Operation::kAllReduce, 20};
constexpr std::size_t kBytes = 1 << 20;
constexpr int kCalls = 2 * Trials::kOfEach + 1;

// What the ranks of a call would do; the algorithms that they took, which must be the same.
std::vector<SharedAlgorithm> play(
    std::vector<Trials>& ranks, const Trials::Kind& kind, int calls,
    const std::function<int(std::size_t rank, SharedAlgorithm algorithm, int call)>& ns) {
  std::vector<SharedAlgorithm> taken;
  for (int call = 0; call < calls; ++call) {
    std::uint64_t largest = 0;
    for (const Trials& rank : ranks) largest = std::max(largest, rank.ownWord(kind));
    std::vector<SharedAlgorithm> algorithms;
    for (Trials& rank : ranks) {
      rank.hear(kind, largest);
      algorithms.push_back(rank.next(kind));
    }
    EXPECT_EQ(std::count(algorithms.begin(), algorithms.end(), algorithms.front()),
              static_cast<long>(algorithms.size()));
    taken.push_back(algorithms.front());
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      ranks[rank].took(kind, algorithms.front(), kBytes, nanoseconds(ns(rank, algorithms.front(), call)));
  }
  return taken;
}

class Answer : public ::testing::TestWithParam<SharedAlgorithm> {};

TEST_P(Answer, IsTheFasterAlgorithmOnAllRanks) {
  std::vector<Trials> ranks(3);
  play(ranks, kKind, kCalls,
       [](std::size_t, SharedAlgorithm algorithm, int) { return algorithm == GetParam() ? 80 : 100; });
  for (const Trials& rank : ranks) EXPECT_EQ(rank.answer(kKind), GetParam());
}

TEST_P(Answer, IsByTheSlowestRank) {
  std::vector<Trials> ranks(3);
  play(ranks, kKind, kCalls, [](std::size_t rank, SharedAlgorithm algorithm, int) {
    return algorithm == GetParam() ? 80 : rank == 2 ? 100 : 10;
  });
  for (const Trials& rank : ranks) EXPECT_EQ(rank.answer(kKind), GetParam());
}

TEST_P(Answer, HeedsNeitherTheFirstCallsNorOneThatWasDisturbed) {
  std::vector<Trials> ranks(2);
  std::map<SharedAlgorithm, int> calls;
  play(ranks, kKind, kCalls, [&](std::size_t rank, SharedAlgorithm algorithm, int) {
    const int nth = rank == 0 ? ++calls[algorithm] : calls[algorithm];
    if (nth == 1) return algorithm == GetParam() ? 5000 : 1;
    return algorithm == GetParam() ? (nth == 3 ? 9000 : 80) : 100;
  });
  for (const Trials& rank : ranks) EXPECT_EQ(rank.answer(kKind), GetParam());
}

// A kind has sizes of up to twice as much; a program's steps have a period.
TEST_P(Answer, IsByTheByte) {
  for (const int period : {2, 3, 4}) {
    Trials trials;
    for (int call = 0; call < kCalls; ++call) {
      trials.hear(kKind, trials.ownWord(kKind));
      const SharedAlgorithm algorithm = trials.next(kKind);
      const std::size_t bytes = call % period == 0 ? kBytes : 2 * kBytes - 1;
      trials.took(kKind, algorithm, bytes, nanoseconds(bytes / 100 * (algorithm == GetParam() ? 80 : 100)));
    }
    EXPECT_EQ(trials.answer(kKind), GetParam()) << period;
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Answer, ::testing::ValuesIn(Trials::kAlgorithms),
                         [](const auto& param_info) { return nameOf(param_info.param); });

TEST(Trials, TakeTurnsUntilThereIsAnAnswer) {
  std::vector<Trials> ranks(2);
  const std::vector<SharedAlgorithm> taken =
      play(ranks, kKind, kCalls, [](std::size_t, SharedAlgorithm, int) { return 100; });
  for (const SharedAlgorithm algorithm : Trials::kAlgorithms)
    EXPECT_EQ(std::count(taken.begin(), taken.end() - 1, algorithm), Trials::kOfEach);
  EXPECT_EQ(ranks.front().answer(kKind), SharedAlgorithm::kStaged) << "nothing is gained by the other";
}

TEST(Trials, AreFewWherePullingIsClearlySlower) {
  std::vector<Trials> ranks(2);
  const std::vector<SharedAlgorithm> taken =
      play(ranks, kKind, kCalls, [](std::size_t, SharedAlgorithm algorithm, int) {
        return algorithm == SharedAlgorithm::kStaged ? 100 : 200;
      });
  EXPECT_EQ(std::count(taken.begin(), taken.end(), SharedAlgorithm::kPull), 2);
}

TEST(Trials, DoNotTakeTheFirstWordForItThatStagesAreSlow) {
  std::vector<Trials> ranks(2);
  std::map<SharedAlgorithm, int> calls;
  play(ranks, kKind, kCalls, [&](std::size_t rank, SharedAlgorithm algorithm, int) {
    const int nth = rank == 0 ? ++calls[algorithm] : calls[algorithm];
    if (algorithm == SharedAlgorithm::kPull) return 100;
    return nth == 2 ? 900 : 80;
  });
  EXPECT_EQ(ranks.front().answer(kKind), SharedAlgorithm::kStaged);
}

// How often it was tried in so many calls, of which those with an answer just go its way.
int trialsIn(Trials& trials, int calls, SharedAlgorithm faster) {
  int tried = 0;
  for (int call = 0; call < calls; ++call) {
    trials.called(kKind);
    if (trials.answer(kKind)) continue;
    trials.hear(kKind, trials.ownWord(kKind));
    if (trials.answer(kKind)) continue;
    trials.took(kKind, trials.next(kKind), kBytes, nanoseconds(trials.next(kKind) == faster ? 80 : 100));
    ++tried;
  }
  return tried;
}

TEST(Trials, AreMadeAgainSinceMachinesChange) {
  Trials trials;
  EXPECT_EQ(trialsIn(trials, 2 * Trials::kOfEach + 1, SharedAlgorithm::kPull), 2 * Trials::kOfEach);
  EXPECT_EQ(trials.answer(kKind), SharedAlgorithm::kPull);
  EXPECT_EQ(trialsIn(trials, Trials::kFirstStands, SharedAlgorithm::kStaged), 0);
  EXPECT_EQ(trials.answer(kKind), SharedAlgorithm::kPull);
  EXPECT_EQ(trialsIn(trials, 2 * Trials::kOfEach + 1, SharedAlgorithm::kStaged), 2 * Trials::kOfEach);
  EXPECT_EQ(trials.answer(kKind), SharedAlgorithm::kStaged);
  EXPECT_EQ(trialsIn(trials, 4 * Trials::kFirstStands, SharedAlgorithm::kPull), 0);
  EXPECT_EQ(trialsIn(trials, 2 * Trials::kOfEach + 1, SharedAlgorithm::kPull), 2 * Trials::kOfEach);
  EXPECT_EQ(trials.answer(kKind), SharedAlgorithm::kPull);
}

TEST(Trials, AreMadeAgainLessAndLess) {
  Trials trials;
  EXPECT_LT(trialsIn(trials, 100'000, SharedAlgorithm::kPull), 100'000 / 500);
}

TEST(Trials, OfOneKindSayNothingOfAnother) {
  std::vector<Trials> ranks(2);
  play(ranks, kKind, kCalls, [](std::size_t, SharedAlgorithm, int) { return 100; });
  EXPECT_EQ(ranks.front().answer({plan::Operation::kAllReduce, 21}), std::nullopt);
  EXPECT_EQ(ranks.front().answer({plan::Operation::kReduceScatter, 20}), std::nullopt);
}

// Calls that were met in and then went another way, since all buffers were shared.
TEST(Trials, CountOnlyWhatWasTried) {
  Trials trials;
  for (int call = 0; call < 100; ++call) trials.hear(kKind, 0);
  EXPECT_EQ(trials.answer(kKind), std::nullopt);
  trials.took(kKind, SharedAlgorithm::kStaged, kBytes, nanoseconds(100));
  EXPECT_EQ(trials.ownWord(kKind), 100U);
  trials.hear(kKind, 100);
  EXPECT_EQ(trials.ownWord(kKind), 0U);
}

// Through the library: right results while algorithms change, and the same algorithm on all ranks in every
// call, though they take different times.
TEST(PrivateReductions, ComeToOneWay) {
  constexpr std::size_t kCount = 100'000;
  constexpr int kRanks = 3;
  std::array<std::vector<std::string>, kRanks> taken;
  testing::ThreadGroup group(kRanks);
  group.run([&](Context& context) {
    Communicator& world = context.world();
    const auto rank = static_cast<std::size_t>(world.rank());
    std::vector<float> sum(kCount);
    for (int call = 0; call < kCalls + 3; ++call) {
      const std::vector<float> own(kCount, static_cast<float>(call) + static_cast<float>(rank));
      world.allReduce(own.data(), sum.data(), kCount, Type::kFloat);
      ASSERT_EQ(sum.front(), 3.0F * static_cast<float>(call) + 3.0F);
      ASSERT_EQ(sum.back(), sum.front());
      taken[rank].emplace_back(world.impl().group().path().algorithmTaken());
    }
  });
  EXPECT_THAT(taken[0], ::testing::IsSupersetOf({"staged", "pull"}));
  EXPECT_THAT(std::vector(taken[0].begin() + kCalls, taken[0].end()), ::testing::Each(taken[0].back()));
  EXPECT_EQ(taken[1], taken[0]);
  EXPECT_EQ(taken[2], taken[0]);
}

}  // namespace
}  // namespace popdist::choice
