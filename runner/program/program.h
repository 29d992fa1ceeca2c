// SPDX-License-Identifier: Apache-2.0
// popdist-runner: the process of one job that an agent service starts, as the job's user, on the job's first
// host. They speak over a socket, its stdin and stdout, in the frames of common/wire/message_stream.h: first
// a HostOrder to start, to feed or to remove; then RunnerOrders down and RunnerReports up, of which the first
// says that the job has begun, or that its records are there.
#pragma once

#include <string>
#include <vector>

namespace pop::runner {

/// The exit code of a feeder without records.
inline constexpr int kExitNoRecords = 3;

/// Reads the service's first order from stdin (HostOrder: start, feed or remove) and does it. Returns the
/// exit code: 0; kExitNoRecords; else 125, with the reason on stderr.
int runProgram(const std::vector<std::string>& arguments);

}  // namespace pop::runner
