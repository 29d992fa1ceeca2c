// SPDX-License-Identifier: Apache-2.0
// An instance's way into its cluster: it takes its own address, serves if it is instance 0, calls instance 0
// until that answers, and waits until all have come.
#pragma once

#include <chrono>
#include <memory>

#include "libpopdist/collectives/cluster/link/cluster_link.h"

namespace popdist::cluster {

/// Joins as `instance`. All who come wait for each other; kDeadlineExceeded names the instances that are
/// missing. The other codes are those of train::contextOf.
context::LinkError join(const Roster& roster, int instance, std::chrono::milliseconds timeout,
                        std::unique_ptr<ClusterLink>& link);

}  // namespace popdist::cluster
