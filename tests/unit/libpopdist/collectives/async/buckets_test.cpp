// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/async/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace popdist::async {
namespace {

using ::testing::ElementsAre;

FusedTensor floats(std::size_t count, void* data = nullptr) {
  return {.name = "", .data = data, .count = count, .type = Type::kFloat};
}
FusedTensor halves(std::size_t count) {
  return {.name = "", .data = nullptr, .count = count, .type = Type::kHalf};
}

std::vector<std::vector<std::size_t>> bucketsOf(const std::vector<FusedTensor>& tensors, std::size_t bytes) {
  std::vector<std::vector<std::size_t>> indices;
  for (const BucketPlan& bucket : planBuckets(tensors, bytes)) indices.push_back(bucket.tensors);
  return indices;
}

TEST(Buckets, TakeTensorsInOrderUntilFull) {
  EXPECT_THAT(bucketsOf({floats(4), floats(4), floats(4), floats(4), floats(1)}, 32),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(Buckets, ALargerTensorHasOneOfItsOwn) {
  EXPECT_THAT(bucketsOf({floats(2), floats(100), floats(2)}, 32),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(bucketsOf({floats(2), floats(2)}, 0), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Buckets, HaveOneTypeEachThoughTypesAlternate) {
  const std::vector<FusedTensor> tensors{floats(2), halves(4), floats(2), halves(4), floats(5)};
  EXPECT_THAT(bucketsOf(tensors, 32), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4)));
  for (const BucketPlan& bucket : planBuckets(tensors, 32)) {
    std::size_t count = 0;
    for (const std::size_t tensor : bucket.tensors) {
      EXPECT_EQ(tensors[tensor].type, bucket.type);
      count += tensors[tensor].count;
    }
    EXPECT_EQ(count, bucket.count);
  }
}

TEST(Buckets, OfNothingAreNone) {
  EXPECT_THAT(bucketsOf({}, 32), ElementsAre());
  EXPECT_THAT(bucketsOf({floats(0)}, 32), ElementsAre(ElementsAre(0)));
}

TEST(Buckets, LieInOnePieceWhenTheTensorsFollowEachOther) {
  std::array<float, 10> memory{};
  const auto piece = [](const std::vector<FusedTensor>& tensors) {
    return onePiece(planBuckets(tensors, 1000).front(), tensors);
  };
  float* const begin = memory.data();
  EXPECT_EQ(piece({floats(0), floats(3, begin), floats(0), floats(5, begin + 3)}), begin);
  EXPECT_EQ(piece({floats(3, begin), floats(5, begin + 4)}), nullptr);
  EXPECT_EQ(piece({floats(5, begin + 3), floats(3, begin)}), nullptr);
  EXPECT_EQ(piece({floats(0)}), nullptr);
}

}  // namespace
}  // namespace popdist::async
