// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/variables/aggregate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace popdist::train {
namespace {

using ::testing::ElementsAre;

std::vector<double> of(Aggregation aggregation, const std::vector<double>& all) {
  std::vector<double> result(2);
  aggregate(aggregation, all, result);
  return result;
}

TEST(Aggregate, IsOfEachElementOverReplicas) {
  const std::vector<double> three{1, -10, 5, -30, 3, -20};
  EXPECT_THAT(of(Aggregation::kSum, three), ElementsAre(9, -60));
  EXPECT_THAT(of(Aggregation::kMean, three), ElementsAre(3, -20));
  EXPECT_THAT(of(Aggregation::kMax, three), ElementsAre(5, -10));
  EXPECT_THAT(of(Aggregation::kMin, three), ElementsAre(1, -30));
  EXPECT_THAT(of(Aggregation::kFirstReplica, three), ElementsAre(1, -10));
}

TEST(Aggregate, KeepsWhatIsNoNumberWhicheverReplicaHasIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const Aggregation each :
       {Aggregation::kSum, Aggregation::kMean, Aggregation::kMax, Aggregation::kMin}) {
    EXPECT_THAT(of(each, {1, nan, nan, 1}), ElementsAre(::testing::IsNan(), ::testing::IsNan()));
  }
  EXPECT_THAT(of(Aggregation::kMean, {inf, 1, inf, inf}), ElementsAre(inf, inf));
}

TEST(Aggregate, MeanOfEqualValuesIsTheValueToTheBit) {
  for (std::size_t replicas = 1; replicas < 100; ++replicas) {
    std::vector<double> all;
    for (std::size_t i = 0; i < replicas; ++i) all.insert(all.end(), {0.1, 1e-300 / 3});
    EXPECT_THAT(of(Aggregation::kMean, all), ElementsAre(0.1, 1e-300 / 3)) << replicas;
  }
}

}  // namespace
}  // namespace popdist::train
