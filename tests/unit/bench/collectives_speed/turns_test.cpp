// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/figures.h"

#include <gtest/gtest.h>

namespace pop::bench::collectives {
namespace {

TEST(Turns, FarOnesCountOnlyWhereThereAreNoNearOnesAndThenAsNotQuiet) {
  Turns turns;
  turns.count({30}, false, true);
  EXPECT_DOUBLE_EQ(turns.result().us.median, 30);
  EXPECT_TRUE(turns.result().mostlyNotQuiet());
  turns.count({10}, true, true);
  EXPECT_DOUBLE_EQ(turns.result().us.median, 10);
  EXPECT_FALSE(turns.result().mostlyNotQuiet());
}

TEST(Turns, NearOnesOfAnOlderStandardCountAsFar) {
  Turns turns;
  turns.count({10}, true, true);
  turns.nearWasFar();
  EXPECT_DOUBLE_EQ(turns.result().us.median, 10);
  EXPECT_TRUE(turns.result().mostlyNotQuiet());
  turns.count({30}, true, true);
  EXPECT_DOUBLE_EQ(turns.result().us.median, 30);
  EXPECT_FALSE(turns.result().mostlyNotQuiet());
}

}  // namespace
}  // namespace pop::bench::collectives
