// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/near_cores.h"

#include <gtest/gtest.h>

namespace pop::bench::collectives {
namespace {

// Long enough for what the machine may do meanwhile: nobody waits for its end.
constexpr std::chrono::milliseconds kLong{60'000};
constexpr std::chrono::milliseconds kOneLook{1};

constexpr double kNearUs = 0.05;
constexpr double kFarUs = 0.35;

class NearCoresTest : public ::testing::Test {
 protected:
  NearCores::MeasureHandoverUs handover() {
    return [this] {
      ++measured_;
      return measured_ > far_for_ ? us_ : kFarUs;
    };
  }

  double us_ = kNearUs;
  int far_for_ = 0;  // the measurements that find them far whatever us_ says
  int measured_ = 0;
};

TEST_F(NearCoresTest, WhatIsFirstSeenCountsAsNear) {
  us_ = kFarUs;
  NearCores cores(kLong, handover());
  EXPECT_TRUE(cores.areNear());
}

TEST_F(NearCoresTest, SeveralTimesTheLeastEverSeenIsFar) {
  NearCores cores(kLong, handover());
  ASSERT_TRUE(cores.areNear());
  us_ = 2 * kNearUs;
  EXPECT_TRUE(cores.areNear());
  us_ = 3 * kNearUs;
  EXPECT_FALSE(cores.areNear());
  us_ = kNearUs;
  EXPECT_TRUE(cores.areNear());
}

TEST_F(NearCoresTest, OneOfTwoMeasurementsMayBeInterrupted) {
  NearCores cores(kLong, handover());
  ASSERT_TRUE(cores.areNear());
  far_for_ = measured_ + 1;
  EXPECT_TRUE(cores.areNear());
}

TEST_F(NearCoresTest, WaitsUntilTheyAreNear) {
  NearCores cores(kLong, handover());
  ASSERT_TRUE(cores.areNear());
  far_for_ = measured_ + 4;
  EXPECT_TRUE(cores.wait());
  EXPECT_GT(measured_, far_for_);
}

TEST_F(NearCoresTest, AfterThreeWaitsInVainWhatIsCountsAsNear) {
  NearCores cores(kOneLook, handover());
  ASSERT_TRUE(cores.areNear());
  us_ = kFarUs;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(cores.wait()) << i;
  EXPECT_TRUE(cores.wait());
}

TEST_F(NearCoresTest, WhatCountsAsNearChangesAfterThreeWaitsInVain) {
  NearCores cores(kOneLook, handover());
  ASSERT_TRUE(cores.areNear());
  us_ = kFarUs;
  const int before = cores.standard();
  for (int i = 0; i < 2; ++i) cores.wait();
  EXPECT_EQ(cores.standard(), before);
  cores.wait();
  EXPECT_NE(cores.standard(), before);
}

TEST_F(NearCoresTest, WhatCountsAsNearChangesWhenMuchNearerOnesAreSeen) {
  us_ = kFarUs;
  NearCores cores(kLong, handover());
  ASSERT_TRUE(cores.areNear());
  const int before = cores.standard();
  us_ = kFarUs / 2;
  EXPECT_TRUE(cores.areNear());
  EXPECT_EQ(cores.standard(), before);
  us_ = kNearUs;
  EXPECT_TRUE(cores.areNear());
  EXPECT_NE(cores.standard(), before);
}

TEST_F(NearCoresTest, WaitsInVainCountOnlyOneAfterTheOther) {
  NearCores cores(kOneLook, handover());
  ASSERT_TRUE(cores.areNear());
  for (int i = 0; i < 4; ++i) {
    us_ = kFarUs;
    EXPECT_FALSE(cores.wait()) << i;
    us_ = kNearUs;
    EXPECT_TRUE(cores.wait()) << i;
  }
}

TEST_F(NearCoresTest, WithoutTimeoutNothingIsMeasured) {
  NearCores cores(std::chrono::milliseconds(0), handover());
  EXPECT_TRUE(cores.wait());
  EXPECT_TRUE(cores.areNear());
  EXPECT_EQ(measured_, 0);
}

}  // namespace
}  // namespace pop::bench::collectives
