// SPDX-License-Identifier: Apache-2.0
#include "scaling/analysis.h"

#include <gtest/gtest.h>

#include "tests/unit/scaling/rows.h"

namespace pop::scaling {
namespace {

TEST(ScalingAnalysis, RecoversTheConstantsFromTwoAccumulations) {
  // The measured parts alone would say 0.02 s for an exchange.
  std::vector<Row> rows;
  for (const int accumulation : {2, 8}) {
    rows.push_back(rowOf({.replicas = 4, .accumulation = accumulation, .input = 0.7, .reduction = 0.015}));
    rows.back().seconds.step -= 0.4;  // to the loop
  }
  const Analysis analysis = analyse(rows);
  ASSERT_EQ(analysis.points.size(), 1U);
  EXPECT_TRUE(analysis.points[0].own.is_fit);
  EXPECT_NEAR(analysis.points[0].own.constants.micro_batch_s, 0.01, 1e-9);
  EXPECT_NEAR(analysis.points[0].own.constants.exchange_s, 0.016, 1e-9);
}

TEST(ScalingAnalysis, TakesTheMeasuredPartsOfOneAccumulation) {
  const Analysis analysis = analyse({rowOf({.replicas = 4, .reduction = 0.015})});
  ASSERT_EQ(analysis.points.size(), 1U);
  EXPECT_FALSE(analysis.points[0].own.is_fit);
  EXPECT_NEAR(analysis.points[0].own.constants.micro_batch_s, 0.01, 1e-9);
  EXPECT_NEAR(analysis.points[0].own.constants.exchange_s, 0.016, 1e-9);
  EXPECT_TRUE(analysis.changes.empty());
  EXPECT_FALSE(analysis.laws);
}

TEST(ScalingAnalysis, TheoreticalThroughputIsWithoutInputButWithAnExchange) {
  const Analysis analysis = analyse({rowOf({.replicas = 1}), rowOf({.replicas = 2, .reduction = 0.01}),
                                     rowOf({.replicas = 4, .input = 0.1, .reduction = 0.03})});
  ASSERT_EQ(analysis.points.size(), 3U);
  EXPECT_NEAR(analysis.points[0].theoretical, 32 * 4 / 0.041, 1e-6);
  EXPECT_NEAR(analysis.points[2].theoretical, 4 * 32 * 4 / 0.051, 1e-6);
  EXPECT_NEAR(analysis.points[2].linear, 4 * 32 * 4 / 0.041, 1e-6);
  EXPECT_NEAR(analysis.points[2].efficiency, 0.041 / 0.171, 1e-9);
}

TEST(ScalingAnalysis, TellsWhatScalesFromWhatStaysAndWhatGrows) {
  // An update of four times the samples: the step takes as long, input four times, the reduction 16 times.
  const Analysis analysis =
      analyse({rowOf({.replicas = 2, .input = 0.01, .reduction = 0.005, .constant = 3}),
               rowOf({.replicas = 8, .input = 0.04, .reduction = 0.08, .constant = 3})});
  EXPECT_EQ(growthIn(analysis, Component::kStep), Growth::kScales);
  EXPECT_EQ(growthIn(analysis, Component::kInput), Growth::kConstant);
  EXPECT_EQ(growthIn(analysis, Component::kReduction), Growth::kGrows);
  EXPECT_EQ(growthIn(analysis, Component::kConstant), Growth::kConstant);
  EXPECT_EQ(growthIn(analysis, Component::kLoop), Growth::kNothing);
}

TEST(ScalingAnalysis, WhatDidNotExistBeforeGrows) {
  const Analysis analysis = analyse({rowOf({.replicas = 1}), rowOf({.replicas = 2, .reduction = 0.02})});
  EXPECT_EQ(growthIn(analysis, Component::kReduction), Growth::kGrows);
}

TEST(ScalingAnalysis, ConstantShareIsThatOfTheSamplesTime) {
  // Half of the time of a sample is input that the host gives one after the other.
  const Analysis analysis = analyse({rowOf({.replicas = 1, .input = 0.04, .update = 0}),
                                     rowOf({.replicas = 4, .input = 0.16, .update = 0})});
  ASSERT_TRUE(analysis.laws);
  EXPECT_NEAR(analysis.laws->constant_share, 0.5, 1e-9);
  EXPECT_NEAR(analysis.laws->factor, 4, 1e-9);
  EXPECT_NEAR(analysis.laws->measured_speedup, 1.6, 1e-9);
}

TEST(ScalingAnalysis, EqualRowsAreOneConfiguration) {
  const Row row = rowOf({.replicas = 2});
  const Analysis analysis = analyse({row, row, row});
  ASSERT_EQ(analysis.configurations.size(), 1U);
  EXPECT_EQ(analysis.configurations[0].runs, 3);
  EXPECT_NEAR(analysis.configurations[0].samplesPerSecond(), 2 * 32 * 4 / 0.041, 1e-6);
  EXPECT_TRUE(analysis.remarks.empty());
}

TEST(ScalingAnalysis, SaysWhichRunsContradictEachOther) {
  const Analysis noisy = analyse({rowOf({.replicas = 2}), rowOf({.replicas = 2, .micro_batch_s = 0.02})});
  ASSERT_EQ(noisy.remarks.size(), 1U);
  EXPECT_NE(noisy.remarks[0].find("2 runs of 2 replicas"), std::string::npos) << noisy.remarks[0];

  const Analysis against_the_model =
      analyse({rowOf({.accumulation = 2, .micro_batch_s = 0.1}), rowOf({.accumulation = 4})});
  ASSERT_EQ(against_the_model.remarks.size(), 1U);
  EXPECT_FALSE(against_the_model.points[0].own.is_fit);
  EXPECT_GE(against_the_model.points[0].own.constants.exchange_s, 0);
}

TEST(ScalingAnalysis, ComparesReplicasByOneMicroBatchAndAccumulation) {
  const Analysis analysis =
      analyse({rowOf({.replicas = 1, .accumulation = 2}), rowOf({.replicas = 1}),
               rowOf({.replicas = 2, .accumulation = 2}), rowOf({.replicas = 4, .accumulation = 2}),
               rowOf({.replicas = 4, .micro_batch = 8})});
  ASSERT_EQ(analysis.points.size(), 3U);
  for (const Point& point : analysis.points) {
    EXPECT_EQ(point.measured.micro_batch, 32);
    EXPECT_EQ(point.measured.accumulation, 2);
  }
  ASSERT_EQ(analysis.remarks.size(), 1U) << "on the other micro-batch";
}

TEST(ScalingAnalysis, OutlookKeepsTheBatchWhereItCan) {
  const Analysis analysis = analyse({rowOf({.replicas = 2, .accumulation = 2, .reduction = 0.009})});
  ASSERT_EQ(analysis.outlook.size(), 3U);
  EXPECT_NEAR(analysis.outlook[1].growing, 4 * 32 * 2 / 0.03, 1e-6);
  ASSERT_TRUE(analysis.outlook[1].kept);
  EXPECT_NEAR(*analysis.outlook[1].kept, 4 * 32 / 0.02, 1e-6);
  EXPECT_FALSE(analysis.outlook[2].kept);
}

}  // namespace
}  // namespace pop::scaling
