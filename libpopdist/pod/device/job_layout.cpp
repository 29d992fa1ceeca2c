// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/job_layout.h"

#include <string>
#include <utility>

#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/pod/device/replica_map.h"
#include "pod/system/job_system.h"
#include "popdist/error.hpp"

namespace popdist::pod {

ReplicaLayout layoutOf(const Context& context) {
  if (context.offline()) {
    throw popdist_error(
        ErrorCode::kFailedPrecondition,
        std::string(kAttach) + ": no Pod is available: poprun was started with --offline-mode");
  }
  return layoutOfJob(context, kAttach);
}

ReplicaLayout layoutOfJob(const Context& context, const char* during) {
  const std::int64_t ipus = std::int64_t{context.numTotalReplicas()} * context.numIpusPerReplica();
  pop::Result<PodSpec> spec = jobSystem(context.system(), "POPDIST_SYSTEM", ipus);
  context::throwIfFailed({spec.status()}, during);
  ReplicaLayout layout{std::move(*spec), context.numTotalReplicas(), context.numIpusPerReplica()};
  context::throwIfFailed({validate(layout)}, during);
  return layout;
}

}  // namespace popdist::pod
