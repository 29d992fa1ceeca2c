// SPDX-License-Identifier: Apache-2.0
// `poprun simulate --all-reduce` and `--collective`: the ways to make a collective on a Pod, and their
// simulated times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/status.h"
#include "pod/clock/tuner.h"
#include "poprun/cli/simulate_options.h"

namespace pop {

/// Tensors are of 4-byte elements.
inline constexpr std::size_t kFloatBytes = 4;

/// A table for each system, or its rows as JSON, or the steps of an algorithm. kInvalidArgument: the size, a
/// system, replicas that do not fit, groups that do not divide them, a time that cannot be counted, or an
/// algorithm that cannot be used there; the message lists those that can.
Result<std::string> collectiveReport(const cli::SimulateOptions& options);

/// The place of each replica, and all copies between replicas, or between IPUs if these are the schedule's
/// ranks, round by round: "3 -> 5: block 7, added".
std::string stepsText(const pod::TimedSchedule& timed, const pod::ReplicaLayout& layout);

/// Its timeline as a JSON array of trace events: a track for each IPU and for each link that carries
/// something, in simulated time; bytes and use of each. kResourceExhausted: more than a million events.
Result<std::string> timelineText(const pod::TimedSchedule& timed, const pod::ReplicaLayout& layout,
                                 const pod::Collective& collective);

}  // namespace pop
