// SPDX-License-Identifier: Apache-2.0
// The partition of poprun's job, as PopRun gets one: the named or the only one, made, made anew or reset as
// the job needs. Blocking.
#pragma once

#include <string>

#include "common/base/status.h"
#include "popctl/pods/pod_wait.h"
#include "popctl/rpc/pods_client.h"
#include "poprun/daemon/partition_order.h"

namespace pop::daemon {

using popctl::Deadline;
using popctl::PodsClient;

struct JobPartition {
  std::string id;
  std::string system;  ///< of the job, as vipu::systemFor()
  bool made = false;   ///< for this job
};

/// Ready to be used. kNotFound: none is named, and there is none or several; kFailedPrecondition: it does not
/// fit, and may not be made anew, or it is in error. Says what it does on stderr.
Result<JobPartition> jobPartition(const PartitionOrder& order, PodsClient& client, Deadline deadline);

/// JobSpec::system of a job in the partition. kFailedPrecondition: the job names another one (--system).
Result<std::string> systemIn(const PartitionOrder& order, PodsClient& client, const std::string& id);

/// The property of the partition that does not fit the job; empty: it fits. A reconfigurable one may be
/// larger.
std::string misfit(const PartitionOrder& order, const virmgrpc::PartitionSpec& spec);

/// Waits while it is still being let go.
Status removePartition(PodsClient& client, const std::string& partition, Deadline deadline);

}  // namespace pop::daemon
