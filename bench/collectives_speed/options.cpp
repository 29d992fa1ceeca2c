// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/options.h"

#include <CLI/CLI.hpp>

#include "bench/collectives_speed/contestants.h"

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kLarge = 128 * kMiB;
constexpr std::size_t kShortFloatsFrom = kMiB;

std::vector<std::string> operationNames() {
  std::vector<std::string> names;
  for (const Operation operation : kOperations) names.emplace_back(nameOf(operation));
  return names;
}

// Explicit options still win.
void applyQuick(const CLI::App& app, Options& options) {
  if (app.count("--ranks") == 0) options.ranks = {2, 4};
  if (app.count("--bytes") == 0) options.bytes = {8, 64 * kKiB, kMiB};
  if (app.count("--only") == 0 && options.hosts == 1) options.only = {kPrivate, kShared};
  if (app.count("--repeats") == 0) options.repeats = 2;
  options.rounds = 1;
}

}  // namespace

Result<Options> parseOptions(int argc, const char* const* argv) {
  CLI::App app("Collectives of libpopdist, the machine's limits and the peers", "bench/collectives");
  Options options;
  options.time_limit = std::chrono::seconds(60);
  std::vector<std::string> operations;
  bool large = false;
  app.add_option("--op", operations, "operations, as in all-reduce,barrier")
      ->delimiter(',')
      ->check(CLI::IsMember(operationNames()));
  app.add_option("--ranks", options.ranks, "numbers of ranks, as in 2,4,8")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024));
  app.add_option("--bytes", options.bytes, "sizes of messages, as in 8,64K,1M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false));
  app.add_flag("--large", large, "also 128 MiB; takes several times as long, and up to 4 GB of memory");
  app.add_option("--hosts", options.hosts,
                 "spread the ranks over this many hosts, made of network namespaces (needs root)")
      ->check(CLI::Range(1, 16));
  app.add_option("--repeats", options.repeats,
                 "batches of each figure; fewer where one operation takes 0.4 s")
      ->check(CLI::Range(1, 10'000));
  addRunOptions(app, contestantNames(), options);
  addQuick(app, options);
  POP_RETURN_IF_ERROR(parse(app, argc, argv, options));
  if (options.quick) applyQuick(app, options);
  for (const int ranks : options.ranks) {
    if (ranks % options.hosts != 0) {
      return invalidArgument("--ranks " + std::to_string(ranks) + " cannot be spread evenly over --hosts " +
                             std::to_string(options.hosts));
    }
  }
  if (!operations.empty()) options.operations.clear();
  for (const std::string& name : operations) options.operations.push_back(*operationNamed(name));
  if (large) options.bytes.push_back(kLarge);
  return options;
}

std::vector<Cell> cellsOf(const Options& options) {
  std::vector<Cell> cells;
  for (const Operation operation : options.operations) {
    for (const int ranks : options.ranks) {
      if (operation == Operation::kBarrier) {
        cells.push_back({operation, popdist::Type::kFloat, ranks, 0});
        continue;
      }
      for (const popdist::Type type : kTypes) {
        const bool is_float = type == popdist::Type::kFloat;
        if (!is_float && operation != Operation::kAllReduce) continue;
        for (const std::size_t bytes : options.bytes) {
          if (is_float || bytes >= kShortFloatsFrom) cells.push_back({operation, type, ranks, bytes});
        }
      }
    }
  }
  return cells;
}

}  // namespace pop::bench::collectives
