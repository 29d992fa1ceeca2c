// SPDX-License-Identifier: Apache-2.0
// A job's partition, as poprun-daemon asks a process of its own to get and hold it.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/job_spec.h"

namespace pop::daemon {

struct PartitionOrder {
  model::JobSpec job;  ///< its request, and what it needs of a partition; no more of it is passed on
  std::string holder;  ///< for people: "poprun 4711 on h0"
  bool verbose = false;
  bool only_remove = false;  ///< the job is over, and the partition's holder was killed
};

/// Writes it into a pipe, whose buffer it fits into.
Status send(int pipe, const PartitionOrder& order);

/// Reads what send() has written, and nothing of what follows. kDataLoss: that is no such thing.
Result<PartitionOrder> receive(int pipe);

}  // namespace pop::daemon
