// SPDX-License-Identifier: Apache-2.0
// Vectors through the stages that are so long that their plans come in several parts.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "libpopdist/collectives/plan/shared_fold.h"
#include "libpopdist/collectives/plan/shared_move.h"
#include "libpopdist/collectives/plan/stage_layout.h"
#include "tests/contract/ways.h"
#include "tests/testing/thread_group.h"

namespace popdist::contract {
namespace {

using Numbers = std::vector<std::uint32_t>;

// So many have short parts.
constexpr int kStagedRanks = 9;
constexpr std::size_t kMany = kStagedRanks;

std::size_t slotCount(int ranks) {
  return plan::stageLayoutFor(ranks).slots.slot_bytes / sizeof(Numbers::value_type);
}

// An element of rank `from` for rank `to`, or for all.
std::uint32_t sample(int from, int to, std::size_t index) {
  return static_cast<std::uint32_t>(index) * static_cast<std::uint32_t>(100 * from + to + 1);
}

Numbers samples(int from, int to, std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = sample(from, to, i);
  return numbers;
}

std::uint32_t sumOfSamples(std::size_t index) {
  std::uint32_t sum = 0;
  for (int rank = 0; rank < kStagedRanks; ++rank) sum += sample(rank, 0, index);
  return sum;
}

class LongStagedCall : public ::testing::Test {
 protected:
  template <typename Body>
  static void run(int ranks, const Body& body) {
    const WayTaken taken(wayNamed("staged"));
    testing::ThreadGroup group(shapeOf(wayNamed("staged"), ranks));
    group.run([&](Context& context) { body(context.world()); });
  }

  static void expectSeveralParts(const std::unique_ptr<plan::StagedPlan>& staged) {
    plan::SharedPlan part;
    staged->next(part);
    ASSERT_FALSE(staged->isOver());
  }
};

TEST_F(LongStagedCall, ReducesAllOfTheVector) {
  const std::size_t count = 40 * slotCount(kStagedRanks) + 5;
  expectSeveralParts(plan::stagedFold({.ranks = kStagedRanks, .count = count, .element_bytes = 4},
                                      plan::stageLayoutFor(kStagedRanks).slots));
  run(kStagedRanks, [&](Communicator& world) {
    Numbers data = samples(world.rank(), 0, count);
    for (int call = 0; call < 2; ++call) {
      Numbers sums(count);
      world.allReduce(data.data(), sums.data(), count, Type::kUint32);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sums[i], sumOfSamples(i)) << i;
    }
  });
}

TEST_F(LongStagedCall, ScattersAllOfTheVector) {
  const std::size_t count = 45 * slotCount(kStagedRanks) / kMany + 3;
  expectSeveralParts(plan::stagedFold({.goal = plan::FoldGoal::kReduceScatter,
                                       .ranks = kStagedRanks,
                                       .count = kMany * count,
                                       .element_bytes = 4},
                                      plan::stageLayoutFor(kStagedRanks).slots));
  run(kStagedRanks, [&](Communicator& world) {
    const Numbers data = samples(world.rank(), 0, kMany * count);
    Numbers sums(count);
    world.reduceScatter(data.data(), sums.data(), count, Type::kUint32);
    const std::size_t begin = static_cast<std::size_t>(world.rank()) * count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sums[i], sumOfSamples(begin + i)) << i;
  });
}

TEST_F(LongStagedCall, ExchangesAllBlocks) {
  const std::size_t count = 45 * slotCount(kStagedRanks) / kMany + 3;
  expectSeveralParts(
      plan::stagedMove(plan::allToAllFlows(kStagedRanks, std::vector(kMany * kMany, 4 * count)), 0,
                       plan::stageLayoutFor(kStagedRanks).slots));
  run(kStagedRanks, [&](Communicator& world) {
    Numbers sent;
    for (int to = 0; to < kStagedRanks; ++to) {
      const Numbers block = samples(world.rank(), to, count);
      sent.insert(sent.end(), block.begin(), block.end());
    }
    Numbers received(kMany * count);
    world.allToAll(sent.data(), received.data(), count, Type::kUint32);
    for (std::size_t i = 0; i < received.size(); ++i)
      ASSERT_EQ(received[i], sample(static_cast<int>(i / count), world.rank(), i % count)) << i;
  });
}

TEST_F(LongStagedCall, SendsAllToItsPartner) {
  const plan::StageShape shape = plan::chunksOf(plan::Operation::kSendRecv, plan::stageLayoutFor(2).slots);
  const std::size_t count = 100 * shape.slot_bytes / sizeof(Numbers::value_type) + 7;
  expectSeveralParts(plan::stagedMove({{0, 1, 0, 0, 4 * count}, {1, 0, 0, 0, 4 * count}}, 0, shape));
  run(2, [&](Communicator& world) {
    const int other = 1 - world.rank();
    const Numbers sent = samples(world.rank(), other, count);
    Numbers received(count);
    world.sendRecv(sent.data(), count, other, received.data(), count, other, Type::kUint32);
    ASSERT_EQ(received == samples(other, world.rank(), count), true);
  });
}

}  // namespace
}  // namespace popdist::contract
