// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/shared_select.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace popdist::plan {
namespace {

constexpr std::size_t kMany = std::size_t{1} << 30;

TEST(SharedAlgorithms, AreFoundByTheirNames) {
  for (const SharedAlgorithm each :
       {SharedAlgorithm::kEager, SharedAlgorithm::kStaged, SharedAlgorithm::kDirect, SharedAlgorithm::kPull})
    EXPECT_EQ(sharedAlgorithmNamed(nameOf(each)), each);
  EXPECT_FALSE(sharedAlgorithmNamed("fastest").has_value());
}

TEST(Pulling, IsFoundOutForWhatIsNotEager) {
  for (const int ranks : {2, 3, 4, 8, 100}) {
    for (const Operation operation :
         {Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather, Operation::kAllToAll,
          Operation::kBroadcast, Operation::kGather, Operation::kScatter}) {
      EXPECT_TRUE(dependsOnMachine(operation, kMany, ranks));
      EXPECT_FALSE(dependsOnMachine(operation, mostEagerBytes(operation, ranks), ranks));
    }
    EXPECT_FALSE(dependsOnMachine(Operation::kReduce, kMany, ranks));
  }
}

TEST(RanksThatShareCores, DoNotGoInStepWhereOneHasWhatAllWaitFor) {
  EXPECT_FALSE(looksBeforeGivingWay(Operation::kBroadcast, SharedAlgorithm::kStaged));
  EXPECT_TRUE(looksBeforeGivingWay(Operation::kBroadcast, SharedAlgorithm::kEager));
  EXPECT_TRUE(looksBeforeGivingWay(Operation::kAllReduce, SharedAlgorithm::kStaged));
}

TEST(Pulling, IsForLargeTransfers) {
  for (const int ranks : {2, 3, 4, 8, 100}) {
    EXPECT_TRUE(isSendRecvWorthPulling(kMany, ranks));
    EXPECT_FALSE(isSendRecvWorthPulling(16 << 10, ranks));
  }
}

// So that receivers are busy while senders are.
TEST(MovesOfOneDirection, GoInChunksThatFitASlot) {
  for (const int ranks : {2, 3, 4, 8, 100}) {
    const StageShape slots = stageLayoutFor(ranks).slots;
    for (const Operation operation :
         {Operation::kBroadcast, Operation::kGather, Operation::kScatter, Operation::kSendRecv}) {
      const StageShape chunks = chunksOf(operation, slots);
      EXPECT_LE(chunks.slot_bytes, std::min<std::size_t>(slots.slot_bytes, 256 << 10));
      EXPECT_EQ(chunks.slots, slots.slots);
    }
    EXPECT_EQ(chunksOf(Operation::kAllReduce, slots).slot_bytes, slots.slot_bytes);
  }
}

// As many as a job may have, all on one host.
TEST(Chunks, HaveALineForEachRank) {
  for (const int ranks : {2, 1024, 1025, 2048, 2049, 4097, 65536}) {
    const StageShape slots = stageLayoutFor(ranks).slots;
    for (const Operation operation : {Operation::kAllReduce, Operation::kScatter})
      EXPECT_GE(chunksOf(operation, slots).slot_bytes / static_cast<std::size_t>(ranks), kLineBytes) << ranks;
  }
}

}  // namespace
}  // namespace popdist::plan
