// SPDX-License-Identifier: Apache-2.0
// Builds a JobSpec from options, or lists all their mistakes.
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

/// The environment of poprun that a job depends on.
struct Surroundings {
  std::string host_name;  ///< the host name of this host, one of its names in --host
  std::function<const char*(const char* name)> variable;             ///< like getenv
  std::function<Result<std::string>(const std::string& path)> file;  ///< the text of a file
  std::function<int()> cores;  ///< that this process may use, those of one core counted once
  bool is_root = false;
  std::string directory;                                ///< relative paths begin here
  std::function<bool(const std::string& path)> exists;  ///< a file or directory of this host
  std::vector<model::Variable> environment;             ///< poprun's whole environment
  /// True if it is another name, or an address, of this host.
  std::function<bool(const std::string& host)> names_this_host;

  /// Makes `path` absolute, since agents and instances may start in another directory.
  std::string absolute(const std::string& path) const;
};

BuiltJob buildJob(const Options& options, const Surroundings& here);

/// The options that name an instance which a job of so many does not have.
std::vector<std::string> findWrongInstances(const Options& options, int num_instances);

/// True if poprun itself must get a V-IPU partition for the job. Without a word about one, its Pods are
/// emulated without anybody's knowledge.
bool needsPartition(const Options& options, const model::JobSpec& spec);

}  // namespace pop
