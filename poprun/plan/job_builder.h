// SPDX-License-Identifier: Apache-2.0
// From options to a JobSpec, or to all that is wrong with them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "poprun/plan/options.h"

namespace pop {

struct BuiltJob {
  model::JobSpec spec;
  std::vector<std::string> mistakes;  ///< when not empty, `spec` must not be run
};

/// What a job takes over from where poprun was started.
struct Surroundings {
  std::string
      host_name;  ///< what this host calls itself, one of the names under which it may appear in --host
  std::function<const char*(const char* name)> variable;  ///< like getenv
};

BuiltJob buildJob(const Options& options, const Surroundings& here);

}  // namespace pop
