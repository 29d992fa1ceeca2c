// SPDX-License-Identifier: Apache-2.0
// Carries out a compiled collective on the tensors of a job's replicas.
#pragma once

#include "libpopdist/pod/device/pod_call.h"
#include "libpopdist/pod/device/programs.h"
#include "libpopdist/pod/device/replica_messages.h"

namespace popdist::pod {

/// Makes the copies of `program`, which is that of `call`, and sums. Collective over all instances. Throws
/// popdist_error, after which no further call on `messages` is possible; or std::bad_alloc, after which
/// abort() must follow.
void run(ReplicaMessages& messages, const PodCall& call, Program& program);

/// The same of a call within replicas: `messages` say only that all instances make it.
void runWithinReplicas(ReplicaMessages& messages, const PodCall& call, Program& program);

}  // namespace popdist::pod
