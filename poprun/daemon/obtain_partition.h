// SPDX-License-Identifier: Apache-2.0
// The partition of poprun's job, as PopRun gets one: the named or the only one, made, made anew or reset as
// the job needs. Blocking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "popctl/pods/pod_wait.h"
#include "popctl/rpc/pods_client.h"

namespace pop::daemon {

using popctl::Deadline;
using popctl::PodsClient;

struct HoldOptions {
  std::string partition;  ///< empty: the only one there is
  std::string allocation;
  std::uint32_t size = 1;  ///< the job needs these, as the next four
  std::uint32_t num_gcds = 1;
  std::uint32_t num_replicas = 1;
  std::uint32_t num_segments = 1;
  virmgrpc::SyncType sync = {};  ///< 0: any
  bool update = false;           ///< make it anew if it does not fit
  std::optional<bool> reset;     ///< missing: if it is not reconfigurable
  bool remove = false;           ///< after the job, if it was made here
  bool only_remove = false;      ///< `partition`, whose holder was killed
  int attempts = 1;
  bool verbose = false;
  std::string holder;  ///< for people: "poprun 4711 on h0"
};

struct JobPartition {
  std::string id;
  bool made = false;  ///< for this job
};

/// Ready to be used. kNotFound: none is named, and there is none or several; kFailedPrecondition: it does not
/// fit, and may not be made anew, or it is in error. Says what it does on stderr.
Result<JobPartition> jobPartition(const HoldOptions& options, PodsClient& client, Deadline deadline);

/// The property of the partition that does not fit the job; empty: it fits. A reconfigurable one may be
/// larger.
std::string misfit(const HoldOptions& options, const virmgrpc::PartitionSpec& spec);

/// Waits while it is still being let go.
Status removePartition(PodsClient& client, const std::string& partition, Deadline deadline);

}  // namespace pop::daemon
