// SPDX-License-Identifier: Apache-2.0
// One run of a training as a line of JSON: what a trainer appends to the file of POPDIST_SCALING_LOG, and
// poprun --scaling-report reads. docs/reference/environment.md has the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace pop::scaling {

/// Parts of instance 0's time.
struct Seconds {
  double all = 0;  ///< in Trainer::run
  double input = 0;
  double step = 0;
  double reduction = 0;
  double update = 0;
  double constant = 0;  ///< outside Trainer::run, from the start of the process on
};

/// Parts of Seconds::constant.
struct Outside {
  double start = 0;  ///< until the first run
  double checkpoints = 0;
  double evaluations = 0;
};

/// On the simulated clock of a Pod, not the host's. 0: the strategy has no Pod.
struct OnPod {
  double collectives = 0;          ///< that the training's updates took, of all kinds
  double all_reduce_estimate = 0;  ///< all-reduces of the gradients, by the usual estimate
};

struct Row {
  std::int64_t replicas = 1;
  std::int64_t instances = 1;
  std::int64_t micro_batch = 0;   ///< samples; 0 only before the first update
  std::int64_t accumulation = 1;  ///< micro-batches of an update
  std::int64_t updates = 0;
  Seconds seconds{};
  Outside outside{};
  OnPod pod{};
};

/// The row as a line, its end included.
std::string lineOf(const Row& row);

/// All rows of a log; lines of blanks are skipped, members that this version does not know as well.
/// kInvalidArgument names `file`, the line and what is wrong with it; so does kResourceExhausted, where there
/// are more than 100,000 rows or a line of more than 64 KiB.
Result<std::vector<Row>> parseRows(std::string_view text, std::string_view file);

}  // namespace pop::scaling
