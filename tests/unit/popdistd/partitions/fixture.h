// SPDX-License-Identifier: Apache-2.0
// Clusters for tests of partitions: machines "<cluster>-<ild>-<position>", all in allocation "a" unless said
// otherwise.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "popdistd/partitions/partition_table.h"

namespace pop::vipu {

inline Time at(std::int64_t seconds) {
  return Time(std::chrono::seconds(1'700'000'000 + seconds));
}

inline std::string machineName(std::string_view cluster, int ild, int position) {
  return std::string(cluster) + '-' + std::to_string(ild) + '-' + std::to_string(position);
}

struct Shape {
  std::string cluster = "c";
  int ilds = 1;
  int machines = kMaxIldMachines;
  int machines_per_host = 4;
  IldTopology topology = IldTopology::kMesh;
  GatewayTopology gateways = GatewayTopology::kRing;
};

// The machines' names by ILD and position.
inline std::vector<std::string> addMachines(PartitionTable& table, const Shape& shape) {
  EXPECT_TRUE(
      table.addCluster({shape.cluster, {shape.ilds, shape.machines, shape.topology, shape.gateways}}).ok());
  std::vector<std::string> names;
  for (int ild = 0; ild < shape.ilds; ++ild) {
    for (int position = 0; position < shape.machines; ++position) {
      const int number = ild * shape.machines + position;
      Agent agent{.id = machineName(shape.cluster, ild, position), .cluster = shape.cluster};
      agent.ild = ild;
      agent.position = position;
      agent.host = "h" + std::to_string(number / shape.machines_per_host);
      agent.ip = "10.5.21." + std::to_string(9 + number);
      agent.gwsw_version = "2.3.1";
      names.push_back(agent.id);
      EXPECT_TRUE(table.addAgent(std::move(agent)).ok());
    }
  }
  return names;
}

inline void addPod(PartitionTable& table, const Shape& shape = {}, const std::string& allocation = "a") {
  std::vector<std::string> names = addMachines(table, shape);
  EXPECT_TRUE(table.setAllocation({allocation, shape.cluster, std::move(names), {}}).ok());
}

inline CreateRequest asks(std::string id, std::uint32_t size) {
  CreateRequest request;
  request.requirements.id = std::move(id);
  request.requirements.size = size;
  request.owner = "alice";
  return request;
}

inline void create(PartitionTable& table, const CreateRequest& request, Time now = at(0)) {
  const auto created = table.create(request, now);
  ASSERT_TRUE(created.ok()) << created.status().message();
}

inline void createActive(PartitionTable& table, const CreateRequest& request, Time now = at(0)) {
  create(table, request, now);
  ASSERT_TRUE(table.configured(request.requirements.id, now).ok());
}

inline void removeAll(PartitionTable& table, const std::string& id, Time now = at(0)) {
  ASSERT_TRUE(table.remove(id, false, now).ok());
  ASSERT_TRUE(table.released(id, now).ok());
}

inline PartitionState stateOf(const PartitionTable& table, std::string_view id) {
  const Partition* const partition = table.find(id);
  return partition ? partition->state : PartitionState::kRemoved;
}

inline std::vector<int> topologyIds(const Partition& partition) {
  std::vector<int> ids;
  for (const PartitionIpu& ipu : partition.spec.ipus) ids.push_back(ipu.topology_id);
  return ids;
}

}  // namespace pop::vipu
