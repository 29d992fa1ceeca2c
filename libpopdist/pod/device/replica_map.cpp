// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/replica_map.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/base/text.h"
#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/group/fence.h"

namespace popdist::pod {

using context::throwIfFailed;

std::vector<int> instanceOfReplica(Context& context, const std::string& method) {
  context.impl().refuseFork(kAttach);
  context::Link& link = *context.impl().state.link;
  const std::string prefix = std::string(context::kReservedKeys) + "replicas/";
  throwIfFailed(link.put(prefix + std::to_string(context.instanceIndex()),
                         std::to_string(context.replicaIndexOffset()) + ' ' +
                             std::to_string(context.numLocalReplicas()) + ' ' + method,
                         context.timeout()),
                kAttach);
  throwIfFailed(group::enterFence(context.impl().state, "Pod"), kAttach);
  context::Link::Values values;
  throwIfFailed(link.getAll(prefix, context.timeout(), values), kAttach);
  std::vector<int> result(static_cast<std::size_t>(context.numTotalReplicas()), -1);
  for (int instance = 0; instance < context.numInstances(); ++instance) {
    const std::string text = values[prefix + std::to_string(instance)];
    char* rest = nullptr;
    const long first = std::strtol(text.c_str(), &rest, 10);
    const long count = std::strtol(rest, &rest, 10);
    if (first < 0 || count < 1 || first + count > context.numTotalReplicas()) {
      throwIfFailed({pop::failedPrecondition("instance " + std::to_string(instance) +
                                             " reports invalid replicas: " + pop::inQuotes(text))},
                    kAttach);
    }
    if (*rest == ' ' && rest + 1 != method) {
      throwIfFailed({pop::failedPrecondition("the method of GCL_OPTIONS is " + pop::inQuotes(rest + 1) +
                                             " for instance " + std::to_string(instance) + ", and " +
                                             pop::inQuotes(method) +
                                             " for this one: give all instances the same GCL_OPTIONS")},
                    kAttach);
    }
    std::fill_n(result.begin() + first, count, instance);
  }
  for (std::size_t replica = 0; replica < result.size(); ++replica) {
    if (result[replica] < 0) {
      throwIfFailed({pop::failedPrecondition("no instance holds replica " + std::to_string(replica))},
                    kAttach);
    }
  }
  return result;
}

}  // namespace popdist::pod
