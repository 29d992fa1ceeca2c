// SPDX-License-Identifier: Apache-2.0
// From options to a JobSpec, or to all that is wrong with them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "poprun/plan/settings.h"

namespace pop {

struct BuiltJob {
  model::JobSpec spec;
  std::vector<std::string> mistakes;  ///< when not empty, `spec` must not be run
  std::vector<std::string> warnings;
};

/// What a job takes over from where poprun was started.
struct Surroundings {
  std::string host_name;  ///< what this host calls itself, one of its names in --host
  std::function<const char*(const char* name)> variable;             ///< like getenv
  std::function<Result<std::string>(const std::string& path)> file;  ///< the text of a file
  bool is_root = false;
  std::string directory;                                ///< where relative paths begin
  std::function<bool(const std::string& path)> exists;  ///< a file or directory of this host
  std::vector<model::Variable> environment;             ///< all of it

  /// `path` for who starts in another directory, as agents and instances may.
  std::string absolute(const std::string& path) const;
};

BuiltJob buildJob(const Options& options, const Surroundings& here);

/// Why this version cannot start a job that can be planned: a partition. Empty: it can.
std::vector<std::string> findObstacles(const model::JobSpec& spec);

}  // namespace pop
