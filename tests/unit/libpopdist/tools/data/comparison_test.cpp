// SPDX-License-Identifier: Apache-2.0
// The meaning of the three speeds: constructed cases, each with one cause.
#include "libpopdist/tools/data/comparison.h"

#include <gtest/gtest.h>

namespace popdist::data {
namespace {

TEST(Verdict, NamesTheOneCauseOfEachCase) {
  EXPECT_EQ(verdictOf({{.real = 98, .generated = 99, .synthetic = 100}}), Verdict::kModel);
  EXPECT_EQ(verdictOf({{.real = 40, .generated = 99, .synthetic = 100}}), Verdict::kReading)
      << "a slow reader";
  EXPECT_EQ(verdictOf({{.real = 40, .generated = 41, .synthetic = 100}}), Verdict::kTransfer)
      << "a slow infeed";
  EXPECT_EQ(verdictOf({{.real = 120, .generated = 100, .synthetic = 100}}), Verdict::kNoise);
}

TEST(Verdict, BlamesTheHostWhenMoreReplicasMakeItWorse) {
  const Speeds one{.replicas = 1, .real = 80, .generated = 95, .synthetic = 100};
  EXPECT_EQ(verdictOf({one, {.replicas = 4, .real = 120, .generated = 360, .synthetic = 400}}),
            Verdict::kHost);
  EXPECT_EQ(verdictOf({one, {.replicas = 4, .real = 320, .generated = 380, .synthetic = 400}}),
            Verdict::kReading)
      << "the same share: it scales";
  EXPECT_EQ(verdictOf({one, {.replicas = 4, .real = 390, .generated = 395, .synthetic = 400}}),
            Verdict::kModel);
}

TEST(SpeedIn, TakesTheLastNumberBeforeTheUnit) {
  EXPECT_EQ(speedIn("epoch 1: 100 samples/s\nepoch 2: loss 0.5, 2000.5 samples/s; done 7\n"), 2000.5);
  EXPECT_EQ(speedIn("fast\n"), 0);
  EXPECT_EQ(speedIn("samples/s"), 0);
  EXPECT_EQ(speedIn("many samples/s"), 0);
  EXPECT_EQ(speedIn("1.2e+06 samples/s"), 1.2e6);
  EXPECT_EQ(speedIn("speed: 7samples/s"), 7);
  EXPECT_EQ(speedIn("1,234 samples/s"), 0);
}

}  // namespace
}  // namespace popdist::data
