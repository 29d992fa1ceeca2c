// SPDX-License-Identifier: Apache-2.0
// poprun's settings, as values. How they are written on the command line: poprun/options.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pop {

enum class TagOutput { kAuto, kNo, kInstance };

struct Options {
  std::string host = "localhost";
  int num_instances = 1;
  std::optional<int> num_replicas;  ///< default: as many as instances
  int ipus_per_replica = 1;
  std::string system;  ///< preset of the Pod to emulate; empty: the smallest that fits
  bool offline_mode = false;

  TagOutput tag_output = TagOutput::kAuto;
  std::optional<int> only_output_from_instance;
  bool print_topology = false;
  bool dry_run = false;
  int verbosity = 0;  ///< 0 warnings, 1 -v, 2 -vv

  bool help = false;
  bool version = false;
  std::vector<std::string> command;  ///< the program and its arguments
};

}  // namespace pop
