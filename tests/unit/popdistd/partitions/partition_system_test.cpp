// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/partition_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pod/system/job_system.h"

namespace pop::vipu {
namespace {

using ::testing::HasSubstr;

PartitionSpec partitionOf(int size, IpuLinkRouting routing, int segments = 1) {
  PartitionSpec spec;
  spec.size = size;
  spec.num_segments = segments;
  spec.routing = routing;
  if (segments > 1) spec.gw_routing = GatewayRouting::kRing;
  return spec;
}

pod::PodSpec podOf(const PartitionSpec& spec) {
  const Result<std::string> system = systemFor(model::JobSpec(), "p", spec);
  EXPECT_TRUE(system.ok()) << system.status().message();
  return pod::jobSystem(system.value(), "p", 1).value();
}

TEST(PartitionSystem, IsThePartitionAlone) {
  const pod::PodSpec mesh = podOf(partitionOf(16, IpuLinkRouting::kSwnc));
  EXPECT_EQ(mesh.name, "p");
  EXPECT_EQ(mesh.shape, (model::PodShape{.ilds = 1, .machines_per_ild = 4}));
  EXPECT_EQ(mesh.links.rail_bytes_per_s, pod::LinkSpec().rail_bytes_per_s);
  EXPECT_EQ(podOf(partitionOf(64, IpuLinkRouting::kDnc)).shape.topology, IldTopology::kMesh);
  EXPECT_EQ(podOf(partitionOf(64, IpuLinkRouting::kRingSwnc)).shape.topology, IldTopology::kTorus);
  EXPECT_EQ(podOf(partitionOf(16, IpuLinkRouting::kBtnc)).shape.topology, IldTopology::kBarleyTwist);
  EXPECT_EQ(podOf(partitionOf(1, IpuLinkRouting::kDnc)).ipuCount(), 4) << "whole machines";
}

TEST(PartitionSystem, HasADomainForEachSegment) {
  PartitionSpec spec = partitionOf(32, IpuLinkRouting::kSwnc, 2);
  EXPECT_EQ(podOf(spec).shape, (model::PodShape{.ilds = 2, .machines_per_ild = 4}));
  spec.gw_routing = GatewayRouting::kSwRing;
  EXPECT_EQ(podOf(spec).shape.gateways, GatewayTopology::kSwitched);
}

TEST(PartitionSystem, ANamedOneMustHaveItsShape) {
  model::JobSpec job;
  job.system = "bow-pod16";
  EXPECT_EQ(systemFor(job, "p", partitionOf(16, IpuLinkRouting::kSwnc)).value(), "bow-pod16");
  const Result<std::string> refused = systemFor(job, "p", partitionOf(64, IpuLinkRouting::kRingSwnc));
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_EQ(
      refused.status().message(),
      "system 'bow-pod16' (--system) has 1 IPU-Link domain of 16 IPUs (mesh), and partition 'p' 1 "
      "IPU-Link domain of 64 IPUs (torus): leave --system out, and the job has the partition as its Pod, "
      "or name one of that shape");
  job.system = "system two; nodes 2; link ipu0 ipu1 1 GB/s";
  EXPECT_THAT(systemFor(job, "p", partitionOf(2, IpuLinkRouting::kDnc)).status().message(),
              HasSubstr("system 'two' (--system) has links of its own, and partition 'p'"));
}

}  // namespace
}  // namespace pop::vipu
