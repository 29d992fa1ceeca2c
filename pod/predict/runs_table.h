// SPDX-License-Identifier: Apache-2.0
// Measured runs of one training, as a table of comma-separated values that anybody can write.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "pod/predict/predict.h"

namespace pop::pod::predict {

struct MeasuredRun {
  std::size_t line = 0;  ///< of the file
  Placement placement;
  double step_s = 0;
};

/// Rows below a header with the columns system, replicas, micro_batch, gradient_accumulation, at least one of
/// ipus_per_replica and stages, and either step_ms or samples_per_s; a column note is for people. Lines that
/// begin with # and blank ones are skipped. kInvalidArgument names `file`, the line, the column and what is
/// wrong; so it does where a row is of another program than `training`, on another chip, or does not fit on
/// its system.
Result<std::vector<MeasuredRun>> parseRuns(std::string_view text, std::string_view file,
                                           const Training& training, const SystemByName& system_by_name);

}  // namespace pop::pod::predict
