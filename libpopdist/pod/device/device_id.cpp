// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <string>

#include "libpopdist/collectives/context/environment.h"
#include "pod/system/numbering.h"
#include "popdist/error.hpp"
#include "popdist/popdist.hpp"

namespace popdist {

int getDeviceId(int ipus_per_replica) {
  const pop::contract::InstanceEnv& env = context::environment();
  constexpr std::int64_t kMaxIpus = 1 << 20;
  const std::int64_t ipus = ipus_per_replica > 0 ? ipus_per_replica : env.num_ipus_per_replica;
  if (env.num_total_replicas * ipus > kMaxIpus) {
    throw popdist_error(ErrorCode::kInvalidArgument,
                        "getDeviceId: " + std::to_string(env.num_total_replicas * ipus) +
                            " IPUs exceed the largest partition");
  }
  const int first = env.replica_index_offset * static_cast<int>(ipus);
  const int last = first + env.num_local_replicas * static_cast<int>(ipus) - 1;
  int group = static_cast<int>(std::bit_ceil(static_cast<unsigned>(last - first + 1)));
  while (first / group != last / group) group *= 2;
  return pop::pod::deviceId(pop::pod::partitionIpus(env.num_total_replicas * static_cast<int>(ipus)),
                            first / group * group, group);
}

}  // namespace popdist
