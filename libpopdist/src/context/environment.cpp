// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/environment.h"

#include <bit>
#include <cstdlib>

#include "libpopdist/src/context/error.h"
#include "libpopdist/src/pod/model/numbering.h"
#include "libpopdist/src/reduce/isa.h"
#include "popdist/popdist.hpp"

namespace popdist {
namespace context {
namespace {

const char* lookUp(const char* name) {
  return std::getenv(name);
}

pop::contract::InstanceEnv readEnvironment() {
  pop::Result<pop::contract::InstanceEnv> env = pop::contract::parse(lookUp);
  throwIfFailed({env.status()}, "reading the environment");
  throwIfFailed({reduce::isaFromEnvironment().status()}, "reading the environment");
  return std::move(*env);
}

}  // namespace

const pop::contract::InstanceEnv& environment() {
  static const pop::contract::InstanceEnv env = readEnvironment();
  return env;
}

TransportSettings transportSettingsFromEnvironment() {
  pop::Result<TransportSettings> settings = transportSettings(lookUp);
  throwIfFailed({settings.status()}, "reading the environment");
  return *settings;
}

bool environmentIsSet() {
  return pop::contract::isSet(lookUp);
}

}  // namespace context

namespace {

constexpr std::int64_t kMostIpus = 1 << 20;

// Other launchers set PopDist's variables without index and number of instances; they follow when all are
// alike.
void requireInstanceIndex(const char* operation) {
  const bool known =
      context::environment().uniform_replicas || std::getenv("POPDIST_INSTANCE_INDEX") != nullptr;
  if (known) return;
  throw popdist_error(ErrorCode::kFailedPrecondition,
                      std::string(operation) +
                          ": the instances have different numbers of replicas "
                          "(POPDIST_UNIFORM_REPLICAS_PER_INSTANCE=0) and POPDIST_INSTANCE_INDEX is not set");
}

}  // namespace

bool isPopdistEnvSet() {
  return context::environmentIsSet();
}

int getNumTotalReplicas() {
  return context::environment().num_total_replicas;
}
int getNumLocalReplicas() {
  return context::environment().num_local_replicas;
}
int getReplicaIndexOffset() {
  return context::environment().replica_index_offset;
}
int getNumIpusPerReplica() {
  return context::environment().num_ipus_per_replica;
}
int getLocalInstanceIndex() {
  return context::environment().local_instance_index;
}

int getInstanceIndex() {
  requireInstanceIndex("getInstanceIndex");
  return context::environment().instance_index;
}

int getNumInstances() {
  requireInstanceIndex("getNumInstances");
  return context::environment().num_instances;
}

bool checkNumIpusPerReplica(int num_ipus) {
  return num_ipus == getNumIpusPerReplica();
}

int getDeviceId(int ipus_per_replica) {
  const pop::contract::InstanceEnv& env = context::environment();
  const std::int64_t ipus = ipus_per_replica > 0 ? ipus_per_replica : env.num_ipus_per_replica;
  if (env.num_total_replicas * ipus > kMostIpus) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "getDeviceId: " + std::to_string(env.num_total_replicas * ipus) +
                            " IPUs are more than any partition has");
  }
  const int first = env.replica_index_offset * static_cast<int>(ipus);
  const int last = first + env.num_local_replicas * static_cast<int>(ipus) - 1;
  int group = static_cast<int>(std::bit_ceil(static_cast<unsigned>(last - first + 1)));
  while (first / group != last / group) group *= 2;
  return pod::deviceId(pod::partitionIpus(env.num_total_replicas * static_cast<int>(ipus)),
                       first / group * group, group);
}

}  // namespace popdist
