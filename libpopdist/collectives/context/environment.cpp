// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/environment.h"

#include <cstdlib>

#include "libpopdist/collectives/context/launcher.h"
#include "libpopdist/collectives/context/link.h"
#include "libpopdist/internal/isa.h"
#include "popdist/error.hpp"
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
  if (!environmentIsSet()) throwIfFailed({checkStartedAlone()}, "reading the environment");
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

}  // namespace popdist
