// SPDX-License-Identifier: Apache-2.0
// A job in a V-IPU partition, without popdistd as its controller. Another process of this program gets
// the partition, and holds it for as long as it is connected to us: so it is let go however poprun ends.
#pragma once

#include <functional>

#include "common/model/job_spec.h"

namespace pop::daemon {

/// Gets the partition that `spec.partition` asks for, the named or the only one there is, calls `run` with
/// the spec that names it, lets the partition go, and returns what `run` has returned. Where there is no
/// partition, stderr says why, and the result is the exit code of a launcher that failed.
int withPartition(const model::JobSpec& spec, bool verbose,
                  const std::function<int(const model::JobSpec&)>& run);

}  // namespace pop::daemon
