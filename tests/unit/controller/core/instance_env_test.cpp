// SPDX-License-Identifier: Apache-2.0
// The environment of each instance of a placed job.
#include "controller/core/instance_env.h"

#include <gtest/gtest.h>

namespace pop {
namespace {

using contract::EnvFamily;

model::JobSpec jobOn(std::vector<model::Host> hosts, int instances) {
  return {.hosts = std::move(hosts),
          .programs = {{.command = {"./train"}, .num_instances = instances}},
          .num_instances = instances,
          .num_replicas = instances};
}

// Three instances on the first host, one on the second.
const std::vector<model::InstancePlacement> kThreeAndOne{{.instance = 0, .host = 0, .local_instance = 0},
                                                         {.instance = 1, .host = 0, .local_instance = 1},
                                                         {.instance = 2, .host = 0, .local_instance = 2},
                                                         {.instance = 3, .host = 1, .local_instance = 0}};

TEST(InstanceEnvs, CountsHostsAndTheLikesOfAnInstanceOnThem) {
  const model::JobSpec spec = jobOn({{"node1", 3}, {"node2", 1}}, 4);
  const InstanceEnvs envs(spec, kThreeAndOne);
  const contract::InstancePlace first = envs.order(kThreeAndOne[0], "4f2a", 0).place;
  EXPECT_EQ(first, (contract::InstancePlace{"node1", 0, 2, 0, 2}));
  EXPECT_EQ(envs.order(kThreeAndOne[2], "4f2a", 0).place, (contract::InstancePlace{"node1", 0, 2, 0, 1}));
  EXPECT_EQ(envs.order(kThreeAndOne[3], "4f2a", 0).place, (contract::InstancePlace{"node2", 1, 2, 1, 2}));
}

TEST(InstanceEnvs, LeavesOutHostsWithoutInstances) {
  const model::JobSpec spec = jobOn({{"idle"}, {"node1"}, {"node2"}}, 2);
  const std::vector<model::InstancePlacement> placement{{.instance = 0, .host = 1},
                                                        {.instance = 1, .host = 2}};
  const InstanceEnvs envs(spec, placement);
  EXPECT_EQ(envs.order(placement[1], "", 0).place, (contract::InstancePlace{"node2", 1, 2, 1, 2}));
  EXPECT_EQ(envs.portsOn(0), 0);
  EXPECT_EQ(envs.portsOn(1), 1 + 3) << "instance 0 is here";
  const std::vector<HostAddress> hosts{{"a", {}}, {"b", {"1", "2", "3", "4"}}, {"c", {"5"}}};
  EXPECT_EQ(envs.rendezvous(hosts).master_address, "b");
  EXPECT_EQ(envs.rendezvous(hosts).master_port, "2");
}

TEST(InstanceEnvs, TellsTheJobAndTheRestart) {
  const model::JobSpec spec = jobOn({{"node1", 3}, {"node2", 1}}, 4);
  const InstanceEnvs envs(spec, kThreeAndOne);
  const contract::InstanceEnv env = envs.order(kThreeAndOne[1], "4f2a", 2).env;
  EXPECT_EQ(env.job_id, "4f2a");
  EXPECT_EQ(env.restart_count, 2);
  EXPECT_EQ(env.num_local_instances, 3);
}

TEST(InstanceEnvs, AskForThePortsThatTheFamiliesUse) {
  model::JobSpec spec = jobOn({{"node1", 3}, {"node2", 1}}, 4);
  const auto ports = [&spec](contract::EnvFamilies families) {
    spec.env_families = std::move(families);
    const InstanceEnvs envs(spec, kThreeAndOne);
    return std::pair(envs.portsOn(0), envs.portsOn(1));
  };
  EXPECT_EQ(ports({}), std::pair(0, 0));
  EXPECT_EQ(ports({EnvFamily::kOpenMpi, EnvFamily::kSlurm, EnvFamily::kPoplar}), std::pair(0, 0));
  EXPECT_EQ(ports({EnvFamily::kTensorFlow}), std::pair(3, 1));
  EXPECT_EQ(ports({EnvFamily::kPyTorch}), std::pair(1, 0));
  EXPECT_EQ(ports({EnvFamily::kPyTorch, EnvFamily::kJax, EnvFamily::kHorovod}), std::pair(3, 0));
  EXPECT_EQ(ports(contract::allEnvFamilies()), std::pair(6, 1));
}

TEST(InstanceEnvs, GiveEachPortToOneUse) {
  const model::JobSpec spec = jobOn({{"node1", 3}, {"node2", 1}}, 4);
  const InstanceEnvs envs(spec, kThreeAndOne);
  const std::vector<HostAddress> hosts{{"a", {"1", "2", "3", "4", "5", "6"}}, {"b", {"7"}}};
  const contract::Rendezvous rendezvous = envs.rendezvous(hosts);
  EXPECT_EQ(rendezvous.tf_cluster, R"({"worker":["a:1","a:2","a:3","b:7"]})");
  EXPECT_EQ(rendezvous.master_port, "4");
  EXPECT_EQ(rendezvous.jax_port, "5");
  EXPECT_EQ(rendezvous.horovod_port, "6");
}

TEST(InstanceEnvs, RenderNoClusterThatNobodyWants) {
  model::JobSpec spec = jobOn({{"node1"}}, 2);
  spec.env_families = {EnvFamily::kJax};
  const std::vector<model::InstancePlacement> placement = model::place(spec);
  const std::vector<HostAddress> hosts{{"a", {"1"}}};
  const contract::Rendezvous rendezvous = InstanceEnvs(spec, placement).rendezvous(hosts);
  EXPECT_EQ(rendezvous.tf_cluster, "");
  EXPECT_EQ(rendezvous.jax_port, "1");
  EXPECT_EQ(rendezvous.master_port, "");
}

int ildIpus(int replicas, int ipus_per_replica, std::optional<int> ilds = {}) {
  model::JobSpec spec = jobOn({{"node1"}}, 1);
  spec.num_replicas = replicas;
  spec.ipus_per_replica = ipus_per_replica;
  spec.num_ilds = ilds;
  const std::vector<model::InstancePlacement> placement{{}};
  return InstanceEnvs(spec, placement).poplarTarget().ild_ipus;
}

TEST(InstanceEnvs, DividesThePartitionIntoIpuLinkDomains) {
  EXPECT_EQ(ildIpus(1, 1), 1);
  EXPECT_EQ(ildIpus(3, 1), 4) << "partitions are powers of two";
  EXPECT_EQ(ildIpus(16, 4), 64);
  EXPECT_EQ(ildIpus(32, 4), 64);
  EXPECT_EQ(ildIpus(16, 4, 2), 32);
}

TEST(InstanceEnvs, NamesThePartitionsServerOnlyWithAPartition) {
  model::JobSpec spec = jobOn({{"node1"}}, 1);
  const std::vector<model::InstancePlacement> placement{{}};
  const InstanceEnvs envs(spec, placement);
  EXPECT_EQ(envs.poplarTarget(), contract::PoplarTarget{});
  spec.partition = {.name = "p1", .server_host = "vipu", .server_port = 1, .server_timeout_seconds = 2};
  EXPECT_EQ(envs.poplarTarget(), (contract::PoplarTarget{1, "p1", "vipu", 1, 2}));
}

}  // namespace
}  // namespace pop
