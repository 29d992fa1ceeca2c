// SPDX-License-Identifier: Apache-2.0
#include "pod/system/numbering.h"

#include <gtest/gtest.h>

#include <set>

namespace pop::pod {
namespace {

TEST(Numbering, IpusAreNumberedRowByRowFromTheBottomLeft) {
  const PodSpec pod64 = podSpecByName("pod64").value();
  EXPECT_EQ(positionOf(pod64, 0), (IpuPosition{.ild = 0, .machine = 0, .row = 0, .column = 0}));
  EXPECT_EQ(positionOf(pod64, 1), (IpuPosition{.ild = 0, .machine = 0, .row = 0, .column = 1}));
  EXPECT_EQ(positionOf(pod64, 2), (IpuPosition{.ild = 0, .machine = 0, .row = 1, .column = 0}));
  EXPECT_EQ(positionOf(pod64, 7), (IpuPosition{.ild = 0, .machine = 1, .row = 3, .column = 1}));
  EXPECT_EQ(positionOf(pod64, 62), (IpuPosition{.ild = 0, .machine = 15, .row = 31, .column = 0}));
  EXPECT_EQ(positionOf(pod64, 63), (IpuPosition{.ild = 0, .machine = 15, .row = 31, .column = 1}));
}

TEST(Numbering, GoesOnFromIldToIld) {
  const PodSpec pod256 = podSpecByName("pod256").value();
  EXPECT_EQ(positionOf(pod256, 64), (IpuPosition{.ild = 1, .machine = 0, .row = 0, .column = 0}));
  EXPECT_EQ(positionOf(pod256, 255), (IpuPosition{.ild = 3, .machine = 15, .row = 31, .column = 1}));
}

TEST(Numbering, PositionAndNumberAreInverse) {
  const PodSpec pod128 = podSpecByName("pod128").value();
  for (int ipu = 0; ipu < pod128.ipuCount(); ++ipu) {
    const IpuPosition at = positionOf(pod128, ipu);
    EXPECT_EQ(ipuAt(pod128, at.ild, at.row, at.column), ipu);
  }
}

TEST(Partition, RoundsUpToAPowerOfTwo) {
  EXPECT_EQ(partitionIpus(1), 1);
  EXPECT_EQ(partitionIpus(3), 4);
  EXPECT_EQ(partitionIpus(16), 16);
  EXPECT_EQ(partitionIpus(17), 32);
}

TEST(DeviceId, SinglesComeFirstThenAlignedGroups) {
  EXPECT_EQ(deviceId(16, 0, 1), 0);
  EXPECT_EQ(deviceId(16, 15, 1), 15);
  EXPECT_EQ(deviceId(16, 0, 2), 16);
  EXPECT_EQ(deviceId(16, 14, 2), 23);
  EXPECT_EQ(deviceId(16, 0, 4), 24);
  EXPECT_EQ(deviceId(16, 4, 4), 25);
  EXPECT_EQ(deviceId(16, 12, 4), 27);
  EXPECT_EQ(deviceId(16, 0, 8), 28);
  EXPECT_EQ(deviceId(16, 8, 8), 29);
  EXPECT_EQ(deviceId(16, 0, 16), 30);
}

TEST(DeviceId, TheParentOfFourIpusIs6) {
  EXPECT_EQ(deviceId(4, 0, 4), 6);
}

TEST(DeviceId, IsDifferentForEachGroup) {
  std::set<int> ids;
  for (int ipus = 1; ipus <= 64; ipus *= 2) {
    for (int first = 0; first < 64; first += ipus) ids.insert(deviceId(64, first, ipus));
  }
  EXPECT_EQ(ids.size(), 127u);
  EXPECT_EQ(*ids.rbegin(), 126);
}

TEST(DeviceIdDeathTest, RefusesAGroupThatIsNotAligned) {
  EXPECT_DEATH(deviceId(16, 2, 4), "internal error");
}

}  // namespace
}  // namespace pop::pod
