// SPDX-License-Identifier: Apache-2.0
#include "popdistd/vipu/partition_codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

TEST(PartitionCodec, ReadsAllThatAClientAsksFor) {
  virmgrpc::CreatePartitionRequest message;
  message.set_disable_auto_reset(true);
  message.set_relocatable(true);
  virmgrpc::PartitionRequirements& asked = *message.mutable_requirements();
  asked.set_id("p");
  asked.set_size(2);
  asked.set_cluster_id("c");
  asked.set_ipulink_routing_type(virmgrpc::IRT_SWNC);
  asked.set_num_ipulink_segments(2);
  asked.set_gw_routing_type(virmgrpc::GRT_SWRING);
  asked.set_sync_type(virmgrpc::ST_POD_NATIVE_DEFAULT);
  asked.set_num_gcds(2);
  asked.set_reconfigurable(true);
  asked.set_num_replicas(3);
  asked.set_allocation_id("a");
  virmgrpc::PartitionIpu& ipu = *asked.add_ipus();
  ipu.set_ipulink_domain_topology_id(5);
  ipu.set_ipulink_domain_routing_id(1);
  ipu.set_topology_id(7);
  ipu.set_routing_id(3);

  const auto request = fromWire(message);
  ASSERT_TRUE(request.ok());
  const CreateRequest& read = request.value();
  EXPECT_TRUE(read.disable_auto_reset && read.relocatable);
  EXPECT_EQ(read.requirements.id, "p");
  EXPECT_EQ(read.requirements.size, 2U);
  EXPECT_EQ(read.requirements.cluster, "c");
  EXPECT_EQ(read.requirements.allocation, "a");
  EXPECT_EQ(read.requirements.routing, IpuLinkRouting::kSwnc);
  EXPECT_EQ(read.requirements.gw_routing, GatewayRouting::kSwRing);
  EXPECT_EQ(read.requirements.sync, SyncType::kPodNativeDefault);
  EXPECT_EQ(read.requirements.num_segments, 2U);
  EXPECT_EQ(read.requirements.num_gcds, 2U);
  EXPECT_EQ(read.requirements.num_replicas, 3U);
  EXPECT_TRUE(read.requirements.reconfigurable);
  EXPECT_EQ(read.requirements.ipus, (std::vector<PartitionIpu>{{5, 1, 7, 3}}));
}

TEST(PartitionCodec, RefusesEnumsThatVIpuDoesNotHave) {
  const auto with = [](auto set) {
    virmgrpc::CreatePartitionRequest message;
    set(*message.mutable_requirements());
    return fromWire(message).code();
  };
  using Asked = virmgrpc::PartitionRequirements;
  EXPECT_EQ(with([](Asked& asked) { asked.set_ipulink_routing_type(virmgrpc::IpuLinkRoutingType{5}); }),
            Code::kInvalidArgument);
  EXPECT_EQ(with([](Asked& asked) { asked.set_gw_routing_type(virmgrpc::GatewayRoutingType{1}); }),
            Code::kInvalidArgument);
  EXPECT_EQ(with([](Asked& asked) { asked.set_sync_type(virmgrpc::SyncType{-1}); }), Code::kInvalidArgument);
}

TEST(PartitionCodec, NumbersBeyondEveryRangeAreMistakes) {
  PartitionTable table;
  addPod(table);
  virmgrpc::CreatePartitionRequest message;
  message.mutable_requirements()->set_id("p");
  message.mutable_requirements()->set_cluster_id("c");
  message.mutable_requirements()->add_ipus()->set_topology_id(std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(table.create(fromWire(message).value(), at(0)).code(), Code::kInvalidArgument);
  message.mutable_requirements()->clear_ipus();
  message.mutable_requirements()->set_size(1U << 31);
  EXPECT_EQ(table.create(fromWire(message).value(), at(0)).code(), Code::kInvalidArgument);
}

TEST(PartitionCodec, WritesAPartitionWithItsSpecification) {
  PartitionTable table;
  addPod(table, {.ilds = 2, .machines = 1});
  CreateRequest request = asks("p", 4);
  request.requirements.num_segments = 2;
  request.requirements.num_gcds = 2;
  createActive(table, request);
  const virmgrpc::Partition message = toWire(*table.find("p"), "1.4.0");
  EXPECT_EQ(message.id(), "p");
  EXPECT_EQ(message.ready_state(), virmgrpc::PS_ACTIVE);
  EXPECT_EQ(message.ipuof_server_version(), "1.4.0");
  EXPECT_EQ(message.spec().cluster_id(), "c");
  EXPECT_EQ(message.spec().allocation_id(), "a");
  EXPECT_EQ(message.spec().num_ipulink_segments(), 2U);
  EXPECT_EQ(message.spec().num_gcds(), 2U);
  EXPECT_EQ(message.spec().num_replicas(), 2U);
  EXPECT_EQ(message.spec().gw_routing_type(), virmgrpc::GRT_RING);
  EXPECT_EQ(message.spec().ipulink_routing_type(), virmgrpc::IRT_DNC);
  EXPECT_EQ(message.spec().sync_type(), virmgrpc::ST_GS2_DEFAULT);
  ASSERT_EQ(message.spec().ipus_size(), 4);
  EXPECT_EQ(message.spec().ipus(3).ipulink_domain_topology_id(), 1U);
  EXPECT_EQ(message.spec().ipus(3).ipulink_domain_routing_id(), 1U);
  EXPECT_EQ(message.spec().ipus(3).topology_id(), 1U);
  EXPECT_EQ(message.spec().ipus(3).routing_id(), 3U);
}

TEST(PartitionCodec, WritesTheStatusWithErrorsAndTheLastReset) {
  PartitionTable table;
  addPod(table);
  create(table, asks("p", 4));
  ASSERT_TRUE(table.configFailed("p", "no sync", at(0) + std::chrono::milliseconds(1250)).ok());
  const virmgrpc::PartitionStatus status = statusToWire(*table.find("p"));
  EXPECT_EQ(status.partition_id(), "p");
  EXPECT_EQ(status.ready_state(), virmgrpc::PS_PENDING);
  EXPECT_EQ(status.operation_state(), virmgrpc::POS_RESETTING);
  ASSERT_EQ(status.errors_size(), 1);
  EXPECT_EQ(status.errors(0), "no sync");
  EXPECT_EQ(status.max_auto_reset_retries(), 3U);
  EXPECT_EQ(status.auto_reset_retry_count(), 1U);
  EXPECT_EQ(status.last_auto_reset_time().seconds(), 1'700'000'001);
  EXPECT_EQ(status.last_auto_reset_time().nanos(), 250'000'000);
}

TEST(PartitionCodec, WritesTheAttributesOfTheIpusOfMachines) {
  PartitionTable table;
  addPod(table, {.machines = 3});
  virmgrpc::ListIPUAttributesRequest request;
  EXPECT_EQ(ipuAttributesToWire(request, table.inventory()).value().entries_size(), 3);
  request.add_agents(machineName("c", 0, 1));
  const auto reply = ipuAttributesToWire(request, table.inventory()).value();
  ASSERT_EQ(reply.entries_size(), 1);
  EXPECT_EQ(reply.entries(0).agent(), machineName("c", 0, 1));
  ASSERT_EQ(reply.entries(0).ipu_attributes().size(), 4U);
  EXPECT_EQ(reply.entries(0).ipu_attributes().at(2).attributes().at("board ipu index"), "2");
  request.add_agents("m");
  EXPECT_EQ(ipuAttributesToWire(request, table.inventory()).code(), Code::kNotFound);
}

TEST(PartitionCodec, WritesTheConfigurationOfEachGcd) {
  PartitionTable table;
  addPod(table);
  CreateRequest request = asks("p", 4);
  request.requirements.num_gcds = 2;
  createActive(table, request);
  const Partition& partition = *table.find("p");
  const virmgrpc::PartitionConfig config =
      toWire(partition.spec, gcdConfigs(partition, table.inventory()).value(), "1.4.0");
  ASSERT_EQ(config.gcd_configs_size(), 2);
  ASSERT_EQ(config.gcd_configs(1).devices_size(), 2);
  EXPECT_EQ(config.gcd_configs(1).devices(0).routing_id(), 2U);
  EXPECT_EQ(config.gcd_configs(1).devices(0).server_port(), 50054U);
  EXPECT_EQ(config.gcd_configs(1).attributes().at("GCD Id"), "1");
  EXPECT_EQ(config.ipuof_server_version(), "1.4.0");
}

}  // namespace
}  // namespace pop::vipu
