// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/shared_select.h"

#include <gtest/gtest.h>

namespace popdist::plan {
namespace {

constexpr std::size_t kMany = std::size_t{1} << 30;

TEST(SharedAlgorithms, AreFoundByTheirNames) {
  for (const SharedAlgorithm each :
       {SharedAlgorithm::kEager, SharedAlgorithm::kStaged, SharedAlgorithm::kDirect, SharedAlgorithm::kPull})
    EXPECT_EQ(sharedAlgorithmNamed(nameOf(each)), each);
  EXPECT_FALSE(sharedAlgorithmNamed("fastest").has_value());
}

TEST(Pulling, IsNothingForReductions) {
  for (const Operation operation : {Operation::kAllReduce, Operation::kReduceScatter, Operation::kReduce}) {
    for (const int ranks : {1, 2, 8, 100}) EXPECT_FALSE(isWorthPulling(operation, kMany, ranks));
  }
}

// One copy in place of two.
TEST(Pulling, IsForWhatIsLargeAndGoesToOne) {
  for (const Operation operation : {Operation::kAllToAll, Operation::kScatter, Operation::kSendRecv}) {
    for (const int ranks : {2, 3, 4, 8, 100}) {
      EXPECT_TRUE(isWorthPulling(operation, kMany, ranks));
      EXPECT_FALSE(isWorthPulling(operation, 16 << 10, ranks));
    }
  }
}

TEST(Pulling, IsNotForWhatGoesToMany) {
  EXPECT_TRUE(isWorthPulling(Operation::kAllGather, 1 << 20, 2));
  EXPECT_FALSE(isWorthPulling(Operation::kAllGather, kMany, 2));
  EXPECT_FALSE(isWorthPulling(Operation::kAllGather, 1 << 20, 8));
  EXPECT_FALSE(isWorthPulling(Operation::kBroadcast, 1 << 20, 4));
}

}  // namespace
}  // namespace popdist::plan
