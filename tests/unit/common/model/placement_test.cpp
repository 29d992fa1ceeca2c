// SPDX-License-Identifier: Apache-2.0
#include "common/model/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/random.h"

namespace pop::model {
namespace {

JobSpec jobOn(int hosts, int instances, int replicas, int ipus_per_replica = 1) {
  JobSpec spec{.hosts = {},
               .programs = {{.command = {"./train"}, .num_instances = instances}},
               .num_instances = instances,
               .num_replicas = replicas,
               .ipus_per_replica = ipus_per_replica};
  for (int host = 0; host < hosts; ++host) spec.hosts.push_back({"node" + std::to_string(host)});
  return spec;
}

// A job without mistakes, of any shape.
JobSpec randomJob(SplitMix64& random) {
  while (true) {
    const int hosts = static_cast<int>(1 + random.below(6));
    const int instances = hosts * static_cast<int>(1 + random.below(20));
    const int replicas = instances * static_cast<int>(1 + random.below(9));
    const JobSpec spec = jobOn(hosts, instances, replicas, 1 << random.below(7));
    if (findMistakes(spec).empty()) return spec;
  }
}

TEST(Place, PutsEveryReplicaInExactlyOneInstanceInOrder) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SplitMix64 random(seed);
    const JobSpec spec = randomJob(random);
    const std::vector<InstancePlacement> placement = place(spec);
    ASSERT_EQ(placement.size(), static_cast<std::size_t>(spec.num_instances));
    int next_replica = 0;
    for (std::size_t index = 0; index < placement.size(); ++index) {
      ASSERT_EQ(placement[index].instance, static_cast<int>(index)) << "seed " << seed;
      ASSERT_EQ(placement[index].first_replica, next_replica) << "seed " << seed;
      ASSERT_EQ(placement[index].num_replicas, spec.num_replicas / spec.num_instances) << "seed " << seed;
      next_replica += placement[index].num_replicas;
    }
    ASSERT_EQ(next_replica, spec.num_replicas) << "seed " << seed;
  }
}

TEST(Place, GivesEveryHostTheSameNumberOfConsecutiveInstances) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SplitMix64 random(seed);
    const JobSpec spec = randomJob(random);
    std::vector<int> on_host(spec.hosts.size(), 0);
    int last_host = 0;
    for (const InstancePlacement& each : place(spec)) {
      ASSERT_GE(each.host, last_host) << "seed " << seed;
      ASSERT_EQ(each.local_instance, on_host.at(static_cast<std::size_t>(each.host))++) << "seed " << seed;
      last_host = each.host;
    }
    for (const int instances : on_host) {
      ASSERT_EQ(instances, spec.num_instances / static_cast<int>(spec.hosts.size())) << "seed " << seed;
    }
  }
}

TEST(Place, PutsAllIpusOfAnInstanceIntoItsIpuLinkDomain) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SplitMix64 random(seed);
    const JobSpec spec = randomJob(random);
    for (const InstancePlacement& each : place(spec)) {
      const int first_ipu = each.first_replica * spec.ipus_per_replica;
      const int last_ipu = first_ipu + each.num_replicas * spec.ipus_per_replica - 1;
      ASSERT_EQ(each.ild, first_ipu / 64) << "seed " << seed;
      ASSERT_EQ(each.ild, last_ipu / 64) << "seed " << seed;
    }
  }
}

TEST(Place, FollowsTheExampleOfTwoHosts) {
  const std::vector<InstancePlacement> placement = place(jobOn(2, 4, 8, 16));  // 128 IPUs: two domains
  ASSERT_EQ(placement.size(), 4U);
  EXPECT_EQ(placement[2].host, 1);
  EXPECT_EQ(placement[2].local_instance, 0);
  EXPECT_EQ(placement[2].first_replica, 4);
  EXPECT_EQ(placement[2].num_replicas, 2);
  EXPECT_EQ(placement[1].ild, 0);
  EXPECT_EQ(placement[2].ild, 1);
}

TEST(Place, FillsHostByHostUpToTheirSlots) {
  JobSpec spec = jobOn(3, 5, 5);
  spec.hosts = {{"a", 2}, {"b"}, {"c", 4}};
  std::vector<int> hosts;
  std::vector<int> locals;
  for (const InstancePlacement& each : place(spec)) {
    hosts.push_back(each.host);
    locals.push_back(each.local_instance);
  }
  EXPECT_EQ(hosts, (std::vector<int>{0, 0, 1, 2, 2}));
  EXPECT_EQ(locals, (std::vector<int>{0, 1, 0, 0, 1}));
}

TEST(Place, DividesInstancesOverTheChosenDomains) {
  JobSpec spec = jobOn(1, 8, 16);
  spec.num_ilds = 2;
  for (const InstancePlacement& each : place(spec)) EXPECT_EQ(each.ild, each.instance / 4);
}

TEST(Place, GivesTheFirstInstancesOneMoreReplica) {
  JobSpec spec = jobOn(1, 4, 10);
  spec.uneven_replicas = true;
  std::vector<std::pair<int, int>> replicas;
  for (const InstancePlacement& each : place(spec))
    replicas.emplace_back(each.first_replica, each.num_replicas);
  EXPECT_EQ(replicas, (std::vector<std::pair<int, int>>{{0, 3}, {3, 3}, {6, 2}, {8, 2}}));
}

TEST(PlaceDeathTest, AJobWithMistakesIsOurBug) {
  EXPECT_DEATH(static_cast<void>(place(jobOn(1, 2, 3))), "internal error");
}

}  // namespace
}  // namespace pop::model
