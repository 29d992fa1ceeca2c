// SPDX-License-Identifier: Apache-2.0
// The process that holds the partition of a poprun's job.
#pragma once

namespace pop::daemon {

/// poprun-daemon's argument for it. It is read from stdin (partition_order.h).
inline constexpr const char* kHoldPartition = "--hold-partition";

/// Gets the partition that the order on stdin asks for, holds it, prints its name on a line ("p16 made": it
/// was not there) and the job's system on another, and stays until stdin closes, however poprun ends. Then
/// removes the partition, if that is asked for. Where a holder was killed, only removes what that had made.
/// Returns popctl's exit code, and says on stderr why it cannot.
int holdPartition();

}  // namespace pop::daemon
