// SPDX-License-Identifier: Apache-2.0
// Settings for the instances' output, as values derived from the options, for each of the two streams.
#pragma once

#include <optional>
#include <string>

#include "common/model/job_spec.h"
#include "poprun/plan/settings.h"

namespace pop {

struct StreamSettings {
  TagOutput tag = TagOutput::kNo;    ///< never kAuto
  bool whole_lines = false;          ///< each piece consists of whole lines; else bytes pass unchanged
  std::optional<int> only_instance;  ///< drop this stream of all others
  bool fold = false;                 ///< print a line once if several instances write it
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
