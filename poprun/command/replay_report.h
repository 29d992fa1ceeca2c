// SPDX-License-Identifier: Apache-2.0
// `poprun simulate --replay` and `--export-chakra`: Chakra execution traces on a Pod, and a Pod's as traces.
#pragma once

#include <span>
#include <string>

#include "common/base/status.h"
#include "pod/chakra/execution_trace.h"
#include "poprun/cli/simulate_options.h"

namespace pop {

/// The collectives of the traces PREFIX.0.et, PREFIX.1.et, … on each system: a table, or its rows as JSON.
/// kInvalidArgument: a trace that cannot be read or simulated, with its file and node; traces that disagree,
/// or of which one is missing; replicas that do not fit; a collective whose time cannot be counted.
Result<std::string> replayReport(const cli::SimulateOptions& options);

/// Writes the same trace for each of so many ranks, as PREFIX.0.et and so on. kAlreadyExists: one of them is
/// there; those before it have been written.
Status writeTraces(const std::string& prefix, int ranks, std::span<const pod::chakra::TraceNode> nodes);

}  // namespace pop
