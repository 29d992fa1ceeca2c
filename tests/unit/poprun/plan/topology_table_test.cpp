// SPDX-License-Identifier: Apache-2.0
// The table as PopRun prints it: the first two golden files are its documented examples.
#include "poprun/plan/topology_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/testing/golden.h"

namespace pop {
namespace {

std::string tableOf(const std::vector<std::string>& hosts, int instances, int replicas,
                    int ipus_per_replica = 1) {
  model::JobSpec spec{.hosts = {},
                      .programs = {{.command = {"./train"}, .num_instances = instances}},
                      .num_instances = instances,
                      .num_replicas = replicas,
                      .ipus_per_replica = ipus_per_replica};
  for (const std::string& host : hosts) spec.hosts.push_back({host});
  EXPECT_TRUE(model::findMistakes(spec).empty());
  return topologyTable(spec, model::place(spec));
}

TEST(TopologyTable, OfFourReplicasInOneInstance) {
  EXPECT_EQ(tableOf({"gc-poplar-02"}, 1, 4), testing::golden("topology_4_replicas.txt"));
}

TEST(TopologyTable, OfTwoInstancesWithAReplicaEach) {
  EXPECT_EQ(tableOf({"[0]"}, 2, 2), testing::golden("topology_2_instances.txt"));
}

TEST(TopologyTable, OfTwoInstancesWithFourReplicasEach) {
  EXPECT_EQ(tableOf({"localhost"}, 2, 8), testing::golden("topology_2_instances_of_4.txt"));
}

TEST(TopologyTable, OfSixteenReplicasHasWiderCells) {
  EXPECT_EQ(tableOf({"localhost"}, 1, 16), testing::golden("topology_16_replicas.txt"));
}

TEST(TopologyTable, OfOneReplicaIsAsWideAsItsHost) {
  EXPECT_EQ(tableOf({"localhost"}, 1, 1), testing::golden("topology_1_replica.txt"));
}

TEST(TopologyTable, WidensForLongHostNames) {
  EXPECT_EQ(tableOf({"training-node-0001", "training-node-0002"}, 4, 4),
            testing::golden("topology_2_long_hosts.txt"));
}

TEST(TopologyTable, ShowsEveryIpuLinkDomain) {
  EXPECT_EQ(tableOf({"a", "b"}, 4, 8, 16), testing::golden("topology_2_ilds.txt"));
}

TEST(TopologyTable, HasLinesOfOneWidthWhateverTheJob) {
  for (const int replicas : {1, 9, 10, 11, 64, 100, 101}) {
    for (const char* host : {"a", "a-host-name-of-middling-length", "localhost"}) {
      const std::string table = tableOf({host}, 1, replicas <= 64 ? replicas : 64);
      const std::size_t width = table.find('\n');
      std::size_t start = table.find('\n') + 1;
      EXPECT_EQ(table.substr(start).find('\n'), width + 1)
          << "the rulers at the top and bottom have no corner";
      for (int line = 1; line < 10; ++line) {
        const std::size_t end = table.find('\n', start);
        ASSERT_NE(end, std::string::npos);
        EXPECT_EQ(end - start, width + 1) << table;
        start = end + 1;
      }
    }
  }
}

}  // namespace
}  // namespace pop
