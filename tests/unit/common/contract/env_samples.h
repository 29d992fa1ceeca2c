// SPDX-License-Identifier: Apache-2.0
// Environments as the tests of both directions of the contract need them: as a map, and random valid ones.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/contract/env_contract.h"

namespace pop::contract {

using Environment = std::map<std::string, std::string>;

/// A getenv over `environment`, which must outlive it.
inline Lookup lookupIn(const Environment& environment) {
  return [&environment](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

inline Environment toEnvironment(const std::vector<Variable>& variables) {
  return {variables.begin(), variables.end()};
}

/// The environment of one instance of some valid job: numbers that agree with each other, and texts full of
/// characters that mean something to shells and JSON.
inline InstanceEnv randomInstanceEnv(SplitMix64& random) {
  const auto upTo = [&random](std::uint64_t most) { return static_cast<int>(random.below(most + 1)); };
  const auto text = [&random, &upTo] {
    static constexpr std::string_view kCharacters = "abcXYZ019 =/:\"'\\$\t\nöü";
    std::string result;
    for (int left = upTo(12); left > 0; --left) result += kCharacters[random.below(kCharacters.size())];
    return result;
  };
  InstanceEnv env;
  env.num_local_replicas = 1 + upTo(16);
  env.num_instances = 1 + upTo(1000);
  env.instance_index = upTo(static_cast<std::uint64_t>(env.num_instances - 1));
  env.num_total_replicas = env.num_local_replicas * env.num_instances;
  env.replica_index_offset = env.num_local_replicas * env.instance_index;
  env.num_ipus_per_replica = 1 << upTo(6);
  env.num_local_instances = 1 + upTo(static_cast<std::uint64_t>(env.num_instances - 1));
  env.local_instance_index = upTo(static_cast<std::uint64_t>(env.num_local_instances - 1));
  env.uniform_replicas = upTo(3) > 0;
  if (!env.uniform_replicas) {  // then only the replicas' range must lie inside the total
    env.num_total_replicas += upTo(50);
    env.replica_index_offset =
        upTo(static_cast<std::uint64_t>(env.num_total_replicas - env.num_local_replicas));
  }
  env.job_id = text();
  env.agent_socket = text();
  env.executable_cache_path = text();
  env.system = text();
  env.offline = upTo(1) == 1;
  env.restart_count = upTo(3);
  return env;
}

}  // namespace pop::contract
