// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/pod_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "popctl/pods/pod_requests.h"
#include "tests/testing/golden.h"

namespace pop::popctl {
namespace {

using pop::testing::golden;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

virmgrpc::ListPartitionsReply partitions(int size, const std::string& id, const std::string& cluster) {
  virmgrpc::ListPartitionsReply reply;
  virmgrpc::Partition& partition = *reply.add_partitions();
  partition.set_id(id);
  partition.set_ready_state(virmgrpc::PS_ACTIVE);
  partition.set_ipuof_server_version("1.2.3");
  virmgrpc::PartitionSpec& spec = *partition.mutable_spec();
  spec.set_cluster_id(cluster);
  spec.set_num_gcds(1);
  spec.set_num_ipulink_segments(1);
  for (int i = 0; i < size; ++i) spec.add_ipus()->set_routing_id(static_cast<std::uint32_t>(i));
  return reply;
}

TEST(PodTables, ArePrintedAsVipuPrintsThem) {
  virmgrpc::ListPartitionsReply reply = partitions(64, "p64", "c64_1-16");
  reply.mutable_partitions(0)->mutable_spec()->set_ipulink_routing_type(virmgrpc::IRT_RINGSWNC);
  EXPECT_EQ(partitionsTable(reply), golden("vipu/partitions.txt"));

  v1::ListAllocationsReply allocations;
  allocations.add_allocations()->set_id("alloc-1");
  for (const char* agent : {"ag0", "ag1", "ag2", "ag3"})
    allocations.mutable_allocations(0)->add_agents(agent);
  EXPECT_EQ(allocationsTable(allocations), golden("vipu/allocations.txt"));

  virmgrpc::ListIPUAttributesReply attributes;
  auto& entry = *attributes.add_entries();
  entry.set_agent("ag0");
  auto& ipus = *entry.mutable_ipu_attributes();
  (*ipus[0].mutable_attributes())["board serial number"] = "0024.0002";
  (*ipus[0].mutable_attributes())["board ipu index"] = "1";
  (*ipus[1].mutable_attributes())["board type"] = "M2000";
  EXPECT_EQ(ipuAttributesTable(attributes), golden("vipu/ipu_attrs.txt"));
}

TEST(PodTables, CannotAffectATerminal) {
  EXPECT_THAT(partitionsTable(partitions(1, "\x1b[2J", "a\nb")),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("a\nb"))));
}

TEST(PodTables, OfOnePartitionSayWhoHoldsItAndWhatIsWrong) {
  const virmgrpc::ListPartitionsReply reply = partitions(4, "p", "c");
  virmgrpc::PartitionStatus status;
  status.set_ready_state(virmgrpc::PS_ERROR);
  status.set_operation_state(virmgrpc::POS_RESETTING);
  status.add_errors("machine ag0 is lost");
  v1::PartitionInfo info;
  info.set_owner("alice");
  info.set_job(12);
  EXPECT_THAT(partitionTable(reply.partitions(0), status, &info),
              AllOf(HasSubstr("ERROR/RESETTING"), HasSubstr("alice"), HasSubstr("job 12"),
                    HasSubstr("machine ag0 is lost")));
  EXPECT_THAT(partitionTable(reply.partitions(0), status, nullptr), Not(HasSubstr("Owner")));
}

TEST(VipuJson, HasArrays) {
  virmgrpc::ListPartitionsReply reply = partitions(1, "p", "c");
  virmgrpc::PartitionSpec& spec = *reply.mutable_partitions(0)->mutable_spec();
  spec.mutable_ipus(0)->set_topology_id(4);
  spec.set_ipulink_routing_type(virmgrpc::IRT_DNC);
  spec.set_sync_type(virmgrpc::ST_GS2_DEFAULT);
  spec.set_num_replicas(2);
  spec.set_allocation_id("a");
  EXPECT_EQ(vipuJson(reply).value() + '\n', golden("vipu/list_partition.json"));

  v1::ListClustersReply clusters;
  clusters.add_clusters()->set_id("c");
  clusters.mutable_clusters(0)->set_num_ilds(2);
  v1::ListAgentsReply agents;
  agents.add_agents()->set_cluster("c");
  agents.add_agents()->set_cluster("another");
  EXPECT_EQ(vipuJson(clusters, agents) + '\n', golden("vipu/list_cluster.json"));
}

TEST(PodRequests, AnIndexIsABlockThatMayBeInSeveralDomains) {
  v1::ClusterInfo cluster;
  cluster.set_id("c");
  cluster.set_num_ilds(2);
  cluster.set_machines_per_ild(2);
  virmgrpc::PartitionRequirements requirements;
  requirements.set_size(16);
  ASSERT_TRUE(nameIpus(0, cluster, requirements).ok());
  ASSERT_EQ(requirements.ipus_size(), 16);
  EXPECT_EQ(requirements.cluster_id(), "c");
  EXPECT_EQ(requirements.ipus(7).ipulink_domain_topology_id(), 0U);
  EXPECT_EQ(requirements.ipus(8).ipulink_domain_topology_id(), 1U);
  EXPECT_EQ(requirements.ipus(8).topology_id(), 0U);
  EXPECT_EQ(nameIpus(1, cluster, requirements).code(), Code::kInvalidArgument);
  EXPECT_EQ(nameIpus(UINT32_MAX, cluster, requirements).code(), Code::kInvalidArgument);
}

TEST(PodRequests, TheOnlyClusterNeedsNoName) {
  v1::ListClustersReply clusters;
  EXPECT_EQ(chosenCluster(clusters, "").code(), Code::kInvalidArgument);
  clusters.add_clusters()->set_id("a");
  EXPECT_EQ(chosenCluster(clusters, "").value().id(), "a");
  EXPECT_EQ(chosenCluster(clusters, "b").code(), Code::kNotFound);
  clusters.add_clusters()->set_id("b");
  EXPECT_EQ(chosenCluster(clusters, "b").value().id(), "b");
  EXPECT_EQ(chosenCluster(clusters, "").code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop::popctl
