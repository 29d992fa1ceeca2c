// SPDX-License-Identifier: Apache-2.0
// Device ids as Poplar numbers them: single IPUs, then aligned pairs, fours, eights, ...
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "popdist/popdist.hpp"
#include "tests/unit/libpopdist/collectives/context/fresh_process.h"

namespace popdist {
namespace {

int deviceIdOf(const Variables& variables, int ipus_per_replica = 0) {
  return std::stoi(inFreshProcess(variables, [&] { return std::to_string(getDeviceId(ipus_per_replica)); }));
}

std::vector<int> deviceIds(int instances, int local_replicas, int ipus_per_replica) {
  std::vector<int> ids;
  for (int instance = 0; instance < instances; ++instance) {
    ids.push_back(deviceIdOf(poprunVariables(instances, local_replicas, ipus_per_replica, instance)));
  }
  return ids;
}

TEST(DeviceId, OfSingleIpusCountsFromZero) {
  EXPECT_EQ(deviceIds(16, 1, 1), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST(DeviceId, OfPairsOfSixteenStartsAt16) {
  EXPECT_EQ(deviceIds(8, 1, 2), (std::vector{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(deviceIds(8, 2, 1), (std::vector{16, 17, 18, 19, 20, 21, 22, 23}));
}

TEST(DeviceId, OfFourInstancesWithFourIpusIs24To27) {
  EXPECT_EQ(deviceIds(4, 4, 1), (std::vector{24, 25, 26, 27}));
  EXPECT_EQ(deviceIds(4, 2, 2), (std::vector{24, 25, 26, 27}));
  EXPECT_EQ(deviceIds(4, 1, 4), (std::vector{24, 25, 26, 27}));
}

TEST(DeviceId, OfEightsIs28And29AndOfAllSixteenIs30) {
  EXPECT_EQ(deviceIds(2, 8, 1), (std::vector{28, 29}));
  EXPECT_EQ(deviceIds(1, 16, 1), std::vector{30});
  EXPECT_EQ(deviceIds(1, 1, 16), std::vector{30});
}

TEST(DeviceId, OfAllFourIsSix) {
  EXPECT_EQ(deviceIds(1, 4, 1), std::vector{6});
}

TEST(DeviceId, WithoutPoprunIsTheOnlyIpu) {
  EXPECT_EQ(deviceIdOf({}), 0);
}

TEST(DeviceId, CountsInGivenIpusPerReplica) {
  EXPECT_EQ(deviceIdOf(poprunVariables(4, 1, 1, 2), 4), 26);
  EXPECT_EQ(deviceIdOf(poprunVariables(4, 1, 1, 2), 1), 2);
  EXPECT_EQ(deviceIdOf({}, 4), 6);
}

// Twelve IPUs lie in a partition of sixteen. Instance 1 has the IPUs 3 to 5, which no aligned four holds, and
// instance 2 has 6 to 8, which no aligned eight holds.
TEST(DeviceId, OfAnUnalignedShareIsTheSmallestAlignedGroupAroundIt) {
  EXPECT_EQ(deviceIds(4, 3, 1), (std::vector{24, 28, 30, 26}));
}

TEST(DeviceId, OfMoreIpusThanThereCanBeIsRefused) {
  const std::string answer =
      inFreshProcess(poprunVariables(4, 1000, 1, 2), [] { return std::to_string(getDeviceId(1 << 20)); });
  EXPECT_EQ(answer.rfind("error 3: getDeviceId", 0), 0U) << answer;
}

}  // namespace
}  // namespace popdist
