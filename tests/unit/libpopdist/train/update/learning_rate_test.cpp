// SPDX-License-Identifier: Apache-2.0
#include "popdist/learning_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

TEST(LearningRate, IsAsTheFunctionsSay) {
  const LearningRate constant = 0.5;
  EXPECT_EQ(constant.at(0), 0.5);
  EXPECT_EQ(constant.at(1'000'000), 0.5);
  const LearningRate linear = linearToZero(0.4, 4);
  EXPECT_EQ(linear.at(0), 0.4);
  EXPECT_EQ(linear.at(1), 0.4 * 0.75);
  EXPECT_EQ(linear.at(4), 0);
  EXPECT_EQ(linear.at(5), 0);
  const LearningRate half_cosine = cosine(1, 10, 0.2);
  EXPECT_DOUBLE_EQ(half_cosine.at(0), 1);
  EXPECT_DOUBLE_EQ(half_cosine.at(5), 0.6);
  EXPECT_DOUBLE_EQ(half_cosine.at(10), 0.2);
  EXPECT_DOUBLE_EQ(half_cosine.at(11), 0.2);
}

TEST(LearningRate, WarmsUpToWhatFollows) {
  const LearningRate rate = warmup(4, linearToZero(0.8, 2));
  EXPECT_EQ(rate.at(0), 0.2);
  EXPECT_EQ(rate.at(3), 0.8);
  EXPECT_EQ(rate.at(4), 0.8);
  EXPECT_EQ(rate.at(5), 0.4);
  EXPECT_EQ(rate.at(6), 0);
}

TEST(LearningRate, ChangesAtNumbersOfUpdates) {
  const LearningRate rate = piecewise(1, {{10, 0.1}, {20, 0.01}});
  EXPECT_EQ(rate.at(9), 1);
  EXPECT_EQ(rate.at(10), 0.1);
  EXPECT_EQ(rate.at(19), 0.1);
  EXPECT_EQ(rate.at(20), 0.01);
}

TEST(LearningRate, RefusesWhatIsNoRate) {
  for (const double bad : {-0.1, std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    EXPECT_EQ(errorCodeOf([&] { LearningRate{bad}; }), ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(errorCodeOf([&] { linearToZero(bad, 5); }), ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(errorCodeOf([&] { cosine(bad, 5); }), ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(errorCodeOf([&] { cosine(1, 5, bad); }), ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(errorCodeOf([&] { piecewise(1, {{5, bad}}); }), ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(errorCodeOf([] { LearningRate(std::function<double(std::uint64_t)>()); }),
            ErrorCode::kInvalidArgument);
}

TEST(LearningRate, RefusesNoUpdatesAndNumbersThatDoNotGrow) {
  EXPECT_EQ(errorCodeOf([] { linearToZero(1, 0); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { cosine(1, 0); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { warmup(0, 1.0); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { piecewise(1, {{10, 0.1}, {10, 0.01}}); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
