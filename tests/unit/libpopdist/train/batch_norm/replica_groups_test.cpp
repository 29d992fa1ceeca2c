// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/batch_norm/replica_groups.h"

#include <gtest/gtest.h>

namespace popdist::train {
namespace {

std::vector<ReplicaRange> rangesOf(const std::vector<int>& replicas_of_instance) {
  std::vector<ReplicaRange> ranges;
  int first = 0;
  for (const int count : replicas_of_instance) {
    ranges.push_back({first, count});
    first += count;
  }
  return ranges;
}

using Ints = std::vector<int>;

TEST(LinkedInstances, AreThoseThatShareGroups) {
  EXPECT_EQ(linkedInstances(rangesOf({1, 1, 1, 1}), 1), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(linkedInstances(rangesOf({1, 1, 1, 1}), 2), (Ints{0, 0, 2, 2}));
  EXPECT_EQ(linkedInstances(rangesOf({1, 1, 1, 1}), 4), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(linkedInstances(rangesOf({4, 4}), 2), (Ints{0, 1}));
}

TEST(LinkedInstances, AreLinkedByThirdOnes) {
  EXPECT_EQ(linkedInstances(rangesOf({3, 2, 1, 2}), 2), (Ints{0, 0, 0, 3}));
  EXPECT_EQ(linkedInstances(rangesOf({2, 3, 1, 2}), 2), (Ints{0, 1, 1, 3}));
}

TEST(LinkedInstances, NeedNotLieInOrder) {
  const std::vector<ReplicaRange> ranges{{2, 2}, {5, 1}, {4, 1}, {0, 2}};
  EXPECT_EQ(linkedInstances(ranges, 2), (Ints{0, 1, 1, 3}));
}

}  // namespace
}  // namespace popdist::train
