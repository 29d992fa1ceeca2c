// SPDX-License-Identifier: Apache-2.0
#include "common/contract/env_contract.h"

#include <algorithm>
#include <array>
#include <limits>

#include "common/base/text.h"

namespace pop::contract {
namespace {

// One row per number: both directions of the contract read this table.
struct IntField {
  const char* name;
  int InstanceEnv::*member;
  int least;
};
constexpr std::array kIntFields{
    IntField{"POPDIST_NUM_TOTAL_REPLICAS", &InstanceEnv::num_total_replicas, 1},
    IntField{"POPDIST_NUM_IPUS_PER_REPLICA", &InstanceEnv::num_ipus_per_replica, 1},
    IntField{"POPDIST_NUM_LOCAL_REPLICAS", &InstanceEnv::num_local_replicas, 1},
    IntField{"POPDIST_REPLICA_INDEX_OFFSET", &InstanceEnv::replica_index_offset, 0},
    IntField{"POPDIST_NUM_INSTANCES", &InstanceEnv::num_instances, 1},
    IntField{"POPDIST_INSTANCE_INDEX", &InstanceEnv::instance_index, 0},
    IntField{"POPDIST_NUM_LOCAL_INSTANCES", &InstanceEnv::num_local_instances, 1},
    IntField{"POPDIST_LOCAL_INSTANCE_INDEX", &InstanceEnv::local_instance_index, 0},
    IntField{"POPDIST_RESTART_COUNT", &InstanceEnv::restart_count, 0},
};

struct TextField {
  const char* name;
  std::string InstanceEnv::*member;
};
constexpr std::array kTextFields{
    TextField{"POPDIST_JOB_ID", &InstanceEnv::job_id},
    TextField{"POPDIST_AGENT_SOCKET", &InstanceEnv::agent_socket},
    TextField{"POPDIST_EXECUTABLE_CACHE_PATH", &InstanceEnv::executable_cache_path},
    TextField{"POPDIST_SYSTEM", &InstanceEnv::system},
};

struct BoolField {
  const char* name;
  bool InstanceEnv::*member;
};
constexpr std::array kBoolFields{
    BoolField{"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", &InstanceEnv::uniform_replicas},
    BoolField{"POPDIST_OFFLINE_MODE", &InstanceEnv::offline},
};

Status consistent(const InstanceEnv& env) {
  if (env.instance_index >= env.num_instances) {
    return invalidArgument("POPDIST_INSTANCE_INDEX=" + std::to_string(env.instance_index) +
                           " is not below POPDIST_NUM_INSTANCES=" + std::to_string(env.num_instances));
  }
  if (env.local_instance_index >= env.num_local_instances) {
    return invalidArgument(
        "POPDIST_LOCAL_INSTANCE_INDEX=" + std::to_string(env.local_instance_index) +
        " is not below POPDIST_NUM_LOCAL_INSTANCES=" + std::to_string(env.num_local_instances));
  }
  const std::int64_t uniform = std::int64_t{env.num_instances} * env.num_local_replicas;
  if (env.uniform_replicas && env.num_instances > 1 && uniform != env.num_total_replicas) {
    return invalidArgument("POPDIST_NUM_INSTANCES=" + std::to_string(env.num_instances) + " with " +
                           counted(env.num_local_replicas, "replica") + " each " +
                           "(POPDIST_UNIFORM_REPLICAS_PER_INSTANCE) are not POPDIST_NUM_TOTAL_REPLICAS=" +
                           std::to_string(env.num_total_replicas));
  }
  if (env.replica_index_offset > env.num_total_replicas - env.num_local_replicas) {
    return invalidArgument("replicas " + std::to_string(env.replica_index_offset) + " and up (" +
                           counted(env.num_local_replicas, "local replica") + ") do not fit into " +
                           "POPDIST_NUM_TOTAL_REPLICAS=" + std::to_string(env.num_total_replicas));
  }
  return {};
}

// PopRun itself sets neither the number nor the index of instances: they follow from the replicas when
// uniform.
void deduceInstances(InstanceEnv& env, const Lookup& lookup) {
  if (lookup("POPDIST_NUM_LOCAL_INSTANCES") == nullptr &&
      env.local_instance_index < std::numeric_limits<int>::max()) {
    env.num_local_instances = std::max(env.num_local_instances, env.local_instance_index + 1);
  }
  if (!env.uniform_replicas || env.replica_index_offset > env.num_total_replicas - env.num_local_replicas)
    return;
  if (lookup("POPDIST_NUM_INSTANCES") == nullptr) {
    env.num_instances = env.num_total_replicas / env.num_local_replicas;
    if (lookup("POPDIST_INSTANCE_INDEX") == nullptr) {
      env.instance_index = env.replica_index_offset / env.num_local_replicas;
    }
  }
}

}  // namespace

std::vector<Variable> render(const InstanceEnv& env) {
  std::vector<Variable> variables;
  for (const IntField& field : kIntFields)
    variables.emplace_back(field.name, std::to_string(env.*field.member));
  for (const BoolField& field : kBoolFields)
    variables.emplace_back(field.name, env.*field.member ? "1" : "0");
  for (const TextField& field : kTextFields) {
    variables.emplace_back(field.name,
                           env.*field.member);  // also empty: it hides one that poprun itself was given
  }
  return variables;
}

bool isSet(const Lookup& lookup) {
  return lookup("POPDIST_NUM_TOTAL_REPLICAS") != nullptr;
}

Result<InstanceEnv> parse(const Lookup& lookup) {
  InstanceEnv env;
  for (const IntField& field : kIntFields) {
    const char* text = lookup(field.name);
    if (text == nullptr) continue;
    const Result<std::int64_t> number = parseInteger(text);
    if (!number.ok() || number.value() < field.least || number.value() > std::numeric_limits<int>::max()) {
      return invalidArgument(std::string(field.name) + "=" + inQuotes(text) +
                             " is not a whole number of at least " + std::to_string(field.least) +
                             "; was it changed after poprun set it?");
    }
    env.*field.member = static_cast<int>(number.value());
  }
  for (const BoolField& field : kBoolFields) {
    const char* text = lookup(field.name);
    if (text == nullptr) continue;
    Result<bool> flag = parseBool(text);
    if (!flag.ok()) return invalidArgument(std::string(field.name) + ": " + flag.status().message());
    env.*field.member = flag.value();
  }
  for (const TextField& field : kTextFields) {
    if (const char* text = lookup(field.name)) env.*field.member = text;
  }
  deduceInstances(env, lookup);
  POP_RETURN_IF_ERROR(consistent(env));
  return env;
}

}  // namespace pop::contract
