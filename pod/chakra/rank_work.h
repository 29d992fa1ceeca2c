// SPDX-License-Identifier: Apache-2.0
// The work of ranks as their traces say it, as an IPU does it: one thing after the other, computation or an
// exchange (bulk synchronous). So a trace is a list of collectives, and computation before each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "pod/chakra/execution_trace.h"
#include "pod/system/picoseconds.h"

namespace pop::pod::chakra {

struct CollectiveStep {
  Picoseconds computation{0};  ///< before it
  TraceNode node;              ///< with its collective
};

struct RankWork {
  std::vector<CollectiveStep> collectives;
  Picoseconds computation_after{0};  ///< the last of them
};

/// The work of a trace: each node after those that it depends on, of several that could be next the first in
/// the file. kInvalidArgument, as "FILE: …", and which node: an id that comes twice, a dependency that is
/// missing, nodes that wait for each other, more computation than can be counted. Cost: O(n log n).
Result<RankWork> workOf(std::span<const TraceNode> nodes, std::string_view file);

/// Joins a rank's work to that of all before it: a collective begins when the last of them has computed.
/// kInvalidArgument, and `all` is as it was: it has not the same collectives in the same order. `first_file`
/// is the trace of rank 0.
Status join(RankWork& all, std::string_view first_file, const RankWork& rank, std::string_view file);

}  // namespace pop::pod::chakra
