// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/in_memory.h"

#include <gtest/gtest.h>

namespace popdist::choice {
namespace {

using plan::Operation;

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
      EXPECT_FALSE(dependsOnMachine(operation, maxEagerBytes(operation, ranks), ranks));
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

}  // namespace
}  // namespace popdist::choice
