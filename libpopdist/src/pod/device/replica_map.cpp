// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/replica_map.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/base/text.h"
#include "libpopdist/src/api/context_impl.h"

namespace popdist::pod {

using context::throwIfFailed;

std::vector<int> instanceOfReplica(Context& context) {
  const std::string prefix = "popdist/replicas/";
  context.put(
      prefix + std::to_string(context.instanceIndex()),
      std::to_string(context.replicaIndexOffset()) + ' ' + std::to_string(context.numLocalReplicas()));
  throwIfFailed(context.impl().state.link->fence("Pod", context.timeout()), kAttach);
  std::vector<int> result(static_cast<std::size_t>(context.numTotalReplicas()), -1);
  for (int instance = 0; instance < context.numInstances(); ++instance) {
    const std::string text = context.get(prefix + std::to_string(instance)).value_or("");
    char* rest = nullptr;
    const long first = std::strtol(text.c_str(), &rest, 10);
    const long count = std::strtol(rest, nullptr, 10);
    if (first < 0 || count < 1 || first + count > context.numTotalReplicas()) {
      throwIfFailed({pop::failedPrecondition("instance " + std::to_string(instance) +
                                             " says that it holds replicas " + pop::inQuotes(text))},
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
