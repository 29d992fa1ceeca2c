// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/explain.h"

#include "common/base/text.h"
#include "common/model/placement.h"
#include "poprun/plan/topology_table.h"

namespace pop {
namespace {

std::string replicaRange(const model::InstancePlacement& placement) {
  const int last = placement.first_replica + placement.num_replicas - 1;
  if (placement.num_replicas == 1) return "replica " + std::to_string(last);
  return "replicas " + std::to_string(placement.first_replica) + '-' + std::to_string(last);
}

std::string ipuRange(const model::JobSpec& spec, const model::InstancePlacement& placement) {
  const int first = placement.first_replica * spec.ipus_per_replica;
  const int last = first + placement.num_replicas * spec.ipus_per_replica - 1;
  return first == last ? "IPU " + std::to_string(first)
                       : "IPUs " + std::to_string(first) + '-' + std::to_string(last);
}

std::string instanceText(const model::JobSpec& spec, const model::InstancePlacement& placement) {
  const auto variable = [](const char* name, int value) {
    return std::string("    ") + name + '=' + std::to_string(value) + '\n';
  };
  std::string text = "instance " + std::to_string(placement.instance) + " on " +
                     spec.hosts[static_cast<std::size_t>(placement.host)].name + ": " +
                     replicaRange(placement) + " on " + ipuRange(spec, placement) + ", IPU-Link domain " +
                     std::to_string(placement.ild) + '\n';
  text += variable("POPDIST_INSTANCE_INDEX", placement.instance);
  text += variable("POPDIST_LOCAL_INSTANCE_INDEX", placement.local_instance);
  text += variable("POPDIST_REPLICA_INDEX_OFFSET", placement.first_replica);
  text += variable("POPDIST_NUM_LOCAL_REPLICAS", placement.num_replicas);
  return text;
}

}  // namespace

std::string explainPlan(const model::JobSpec& spec) {
  const std::vector<model::InstancePlacement> placement = model::place(spec);
  std::string text;
  for (const model::Program& program : spec.programs) text += "program: " + join(program.command, " ") + '\n';
  text += "system: " + (spec.system.empty() ? "none is large enough" : spec.system) +
          (spec.offline_mode ? " (offline: no IPU is attached)" : "") + ", partition of " +
          counted(model::partitionIpus(spec), "IPU") + '\n';
  text += topologyTable(spec, placement);
  for (const model::InstancePlacement& each : placement) text += instanceText(spec, each);
  text += "all instances also get:\n";
  text += "    POPDIST_NUM_TOTAL_REPLICAS=" + std::to_string(spec.num_replicas) + '\n';
  text += "    POPDIST_NUM_IPUS_PER_REPLICA=" + std::to_string(spec.ipus_per_replica) + '\n';
  text += "    POPDIST_NUM_INSTANCES=" + std::to_string(spec.num_instances) + '\n';
  if (!spec.system.empty()) text += "    POPDIST_SYSTEM=" + spec.system + '\n';
  text +=
      "decided at the start: TF_CONFIG and MASTER_PORT (free ports), POPDIST_JOB_ID, POPDIST_AGENT_SOCKET, "
      "POPDIST_EXECUTABLE_CACHE_PATH\n";
  return text;
}

}  // namespace pop
