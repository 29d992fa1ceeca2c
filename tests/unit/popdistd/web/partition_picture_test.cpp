// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/partition_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pod/draw/topology_svg.h"

namespace pop::popdistd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::PartitionInfo partition(int size, v1::LinkRouting routing) {
  v1::PartitionInfo info;
  info.set_id("p");
  info.set_size(size);
  info.set_num_segments(1);
  info.set_num_replicas(size);
  info.set_routing(routing);
  return info;
}

pod::ReplicaLayout layout(int ipus, pod::IldTopology topology) {
  pod::ReplicaLayout wanted{.spec = {.name = "p"}, .replicas = ipus};
  wanted.spec.shape = {.machines_per_ild = ipus / 4, .topology = topology};
  return wanted;
}

TEST(PartitionPicture, IsThatOfItsRouting) {
  EXPECT_EQ(partitionPicture(partition(16, v1::LINK_ROUTING_DNC)),
            pod::topologySvg(layout(16, pod::IldTopology::kMesh)));
  EXPECT_EQ(partitionPicture(partition(64, v1::LINK_ROUTING_RINGSWNC)),
            pod::topologySvg(layout(64, pod::IldTopology::kTorus)));
  EXPECT_EQ(partitionPicture(partition(64, v1::LINK_ROUTING_BTNC)),
            pod::topologySvg(layout(64, pod::IldTopology::kBarleyTwist)));
}

TEST(PartitionPicture, HasEachSegment) {
  v1::PartitionInfo two = partition(128, v1::LINK_ROUTING_SWNC);
  two.set_num_segments(2);
  two.set_num_replicas(2);
  two.set_gateway_routing(v1::GATEWAY_ROUTING_SWRING);
  EXPECT_THAT(partitionPicture(two), HasSubstr("128 IPUs in 2 IPU-Link domains, 2 replicas of 64 IPUs"));
  EXPECT_THAT(partitionPicture(two), HasSubstr("16 switches, one for each slot"));
}

TEST(PartitionPicture, ShowsIpusThatAreNotItsInGrey) {
  EXPECT_THAT(partitionPicture(partition(2, v1::LINK_ROUTING_DNC)), HasSubstr("ipu free"));
}

TEST(PartitionPicture, IsDrawnWithoutReplicasThatNoPodCanHave) {
  v1::PartitionInfo odd = partition(12, v1::LINK_ROUTING_DNC);
  odd.set_num_replicas(4);
  EXPECT_THAT(partitionPicture(odd), Not(HasSubstr("replica")));
  EXPECT_THAT(partitionPicture(v1::PartitionInfo()), HasSubstr("</svg>"));
  v1::PartitionInfo huge = partition(1 << 30, v1::LINK_ROUTING_BTNC);
  huge.set_num_segments(1 << 30);
  EXPECT_THAT(partitionPicture(huge), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace pop::popdistd
