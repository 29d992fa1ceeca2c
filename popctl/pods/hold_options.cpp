// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/hold_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "popctl/rpc/exit_codes.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popctl {
namespace {

// As poprun's --sync-type names them.
const std::map<std::string, int>& syncTypesByName() {
  static const std::map<std::string, int> types{
      {"ST_GS2_DEFAULT", virmgrpc::ST_GS2_DEFAULT},
      {"ST_GS2_INDEPENDENT_RAILS", virmgrpc::ST_GS2_INDEPENDENT_RAILS},
      {"ST_POD_NATIVE_DEFAULT", virmgrpc::ST_POD_NATIVE_DEFAULT},
      {"ST_POD_NATIVE_REPLICATED_PIPELINE", virmgrpc::ST_POD_NATIVE_REPLICATED_PIPELINE}};
  return types;
}

void addOptions(CLI::App& app, HoldOptions& options) {
  app.add_option("--server", options.common.server)->required();
  app.add_option("--tls", options.common.tls);
  app.add_option("--timeout", options.common.timeout_s)->check(CLI::PositiveNumber);
  app.add_option("--partition", options.partition);
  app.add_option("--allocation", options.allocation);
  app.add_option("--size", options.size)->required();
  app.add_option("--num-gcds", options.num_gcds);
  app.add_option("--num-replicas", options.num_replicas);
  app.add_option("--num-segments", options.num_segments);
  app.add_option("--sync-type", options.sync)->transform(CLI::CheckedTransformer(syncTypesByName()));
  app.add_flag("--update", options.update);
  app.add_option("--reset", options.reset);
  app.add_flag("--remove", options.remove);
  app.add_flag("--only-remove", options.only_remove);
  app.add_option("--attempts", options.attempts)->check(CLI::PositiveNumber);
  app.add_flag("--verbose", options.verbose);
  app.add_option("--holder", options.holder);
}

}  // namespace

bool isHoldPartition(const std::vector<std::string>& arguments) {
  return arguments.size() >= 2 && arguments[0] == "hold" && arguments[1] == "partition";
}

std::variant<HoldOptions, int> parseHoldPartition(const std::vector<std::string>& arguments) {
  HoldOptions options;
  CLI::App app("", "popctl hold partition");
  addOptions(app, options);
  std::vector<std::string> words(arguments.begin() + 2, arguments.end());
  std::reverse(words.begin(), words.end());  // the order in which CLI11 wants a vector
  try {
    app.parse(words);
    return options;
  } catch (const CLI::Error& error) {
    std::fprintf(stderr, "popctl: hold partition, which poprun calls: %s\n", error.what());
    return kExitUsage;
  }
}

}  // namespace pop::popctl
