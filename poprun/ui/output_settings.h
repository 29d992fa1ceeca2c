// SPDX-License-Identifier: Apache-2.0
// What becomes of the instances' output, as values: from the options, for each of the two streams.
#pragma once

#include <optional>
#include <string>

#include "common/model/job_spec.h"
#include "poprun/plan/settings.h"

namespace pop {

struct StreamSettings {
  TagOutput tag = TagOutput::kNo;    ///< never kAuto
  bool whole_lines = false;          ///< each piece is lines, and ends one; else bytes pass as they are
  std::optional<int> only_instance;  ///< drop this stream of all others
  bool fold = false;                 ///< a line that several instances write comes out once
};

struct OutputSettings {
  StreamSettings out;
  StreamSettings err;
  bool timestamps = false;
  bool status_line = false;  ///< if stderr is a terminal
  std::string directory;     ///< --output-filename; empty: no files
  int num_instances = 1;
};

OutputSettings outputSettings(const Options& options, const model::JobSpec& spec);

}  // namespace pop
