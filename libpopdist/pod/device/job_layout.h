// SPDX-License-Identifier: Apache-2.0
// The Pod of a job, and the places of its replicas on it.
#pragma once

#include "pod/system/replica_layout.h"
#include "popdist/context.hpp"

namespace popdist::pod {

using namespace pop::pod;

/// On the system that the job has (Context::system). Throws popdist_error: kFailedPrecondition under
/// --offline-mode, kInvalidArgument if the system cannot be, or the replicas do not fit it.
ReplicaLayout layoutOf(const Context& context);
/// The same under --offline-mode, too: no Pod is attached. `during` begins its errors.
ReplicaLayout layoutOfJob(const Context& context, const char* during);

}  // namespace popdist::pod
