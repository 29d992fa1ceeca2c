// SPDX-License-Identifier: Apache-2.0
#include "scaling/laws.h"

#include <gtest/gtest.h>

namespace pop::scaling {
namespace {

TEST(Laws, ThroughputIsThatOfTheModel) {
  EXPECT_DOUBLE_EQ(throughput({.micro_batch_s = 0.01, .exchange_s = 0.02}, 16, 8, 4), 16 * 8 * 4 / 0.06);
}

TEST(Laws, AmdahlAndGustafsonDifferInWhatGrows) {
  EXPECT_DOUBLE_EQ(amdahlSpeedup(0.5, 4), 1.6);
  EXPECT_DOUBLE_EQ(gustafsonSpeedup(0.5, 4), 2.5);
  EXPECT_DOUBLE_EQ(amdahlLimit(0.25), 4);
  EXPECT_EQ(amdahlLimit(0), std::numeric_limits<double>::infinity());
}

TEST(Laws, FitRecoversBothConstants) {
  const auto fit = fitConstants({{1, 0.013}, {2, 0.023}, {8, 0.083}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->micro_batch_s, 0.01, 1e-12);
  EXPECT_NEAR(fit->exchange_s, 0.003, 1e-12);
}

TEST(Laws, FitNeedsTwoAccumulationsThatAgreeWithTheModel) {
  EXPECT_FALSE(fitConstants({}));
  EXPECT_FALSE(fitConstants({{4, 0.1}}));
  EXPECT_FALSE(fitConstants({{4, 0.1}, {4, 0.2}}));
  EXPECT_FALSE(fitConstants({{1, 0.2}, {2, 0.1}})) << "more micro-batches take less time";
  EXPECT_FALSE(fitConstants({{1, 0.1}, {2, 0.3}})) << "the exchange would take less than nothing";
}

TEST(Laws, ConstantShareIsThatOfTheFewestReplicas) {
  EXPECT_NEAR(fitConstantShare({{2, 1.0}, {4, 0.75}, {8, 0.625}}).value(), 0.5, 1e-12);
  EXPECT_NEAR(fitConstantShare({{1, 1.0}, {4, 0.25}}).value(), 0, 1e-12);
  EXPECT_EQ(fitConstantShare({{1, 1.0}, {4, 2.0}}).value(), 1);
  EXPECT_FALSE(fitConstantShare({{4, 1.0}, {4, 2.0}}));
}

}  // namespace
}  // namespace pop::scaling
