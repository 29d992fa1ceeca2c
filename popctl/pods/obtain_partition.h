// SPDX-License-Identifier: Apache-2.0
// The partition of poprun's job, as PopRun gets one: the named or the only one, made, made anew or reset as
// the job needs. Blocking.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popctl/pods/hold_options.h"
#include "popctl/pods/pod_wait.h"
#include "popctl/rpc/pods_client.h"

namespace pop::popctl {

struct JobPartition {
  std::string id;
  bool made = false;  ///< for this job
};

/// Ready to be used. kNotFound: none is named, and there is none or several; kFailedPrecondition: it does not
/// fit, and may not be made anew, or it is in error. Says what it does on stderr.
Result<JobPartition> jobPartition(const HoldOptions& options, PodsClient& client, Deadline deadline);

/// What of the partition does not fit the job; empty: it fits. A reconfigurable one may be larger.
std::string misfit(const HoldOptions& options, const virmgrpc::PartitionSpec& spec);

/// Waits while it is still being let go.
Status removePartition(PodsClient& client, const std::string& partition, Deadline deadline);

}  // namespace pop::popctl
