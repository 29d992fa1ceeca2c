// SPDX-License-Identifier: Apache-2.0
// poprun's command line: the settings, and the one function that fills them. PopRun's spelling: `--opt value` and
// `--opt=value`, booleans yes/no/on/off/true/false/1/0, `--` or the first other word starts the program.
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

struct ParsedOptions {
  Options options;
  std::vector<std::string> mistakes;  ///< every one that was found, each naming its option
};

ParsedOptions parseOptions(const std::vector<std::string>& arguments);

/// The text of --help.
std::string helpText();

}  // namespace pop
