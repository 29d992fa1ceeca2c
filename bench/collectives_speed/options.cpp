// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/collectives_speed/contestants.h"

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kLarge = 128 * kMiB;
constexpr std::size_t kShortFloatsFrom = kMiB;

struct Bound {
  Options options;
  std::vector<std::string> operations;
  bool large = false;
  bool quick = false;
  int quiet_timeout_ms = 1000;
  int time_limit_ms = 60'000;
};

std::vector<std::string> operationNames() {
  std::vector<std::string> names;
  for (const Operation operation : kOperations) names.emplace_back(nameOf(operation));
  return names;
}

void bind(CLI::App& app, Bound& bound) {
  Options& options = bound.options;
  app.set_help_flag("--help", "print this and exit");
  app.add_option("--op", bound.operations, "operations, as in all-reduce,barrier")
      ->delimiter(',')
      ->check(CLI::IsMember(operationNames()));
  app.add_option("--ranks", options.ranks, "numbers of ranks, as in 2,4,8")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024));
  app.add_option("--bytes", options.bytes, "sizes of messages, as in 8,64K,1M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false));
  app.add_flag("--large", bound.large, "also 128 MiB; takes several times as long, and up to 4 GB of memory");
  app.add_option("--hosts", options.hosts,
                 "spread the ranks over this many hosts, made of network namespaces (needs root)")
      ->check(CLI::Range(1, 16));
  app.add_option("--only", options.only, "contestants, as in private,openmpi")
      ->delimiter(',')
      ->check(CLI::IsMember(contestantNames()));
  app.add_option("--repeats", options.repeats,
                 "batches of each figure; fewer where one operation takes 0.4 s")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--quiet-timeout-ms", bound.quiet_timeout_ms,
                 "how long a run waits for a quiet machine; 0: not at all")
      ->check(CLI::Range(0, 600'000));
  app.add_option("--time-limit-ms", bound.time_limit_ms, "a longer run counts as hung")
      ->check(CLI::Range(100, 3'600'000));
  app.add_flag("--quick", bound.quick, "smoke test: few batches and sizes, no peers, no quiet machine");
}

// --quick changes the defaults; explicit options still win.
void applyQuick(const CLI::App& app, Bound& bound) {
  Options& options = bound.options;
  if (app.count("--ranks") == 0) options.ranks = {2, 4};
  if (app.count("--bytes") == 0) options.bytes = {8, 64 * kKiB, kMiB};
  if (app.count("--only") == 0 && options.hosts == 1) options.only = {kPrivate, kShared};
  if (app.count("--repeats") == 0) options.repeats = 2;
  if (app.count("--quiet-timeout-ms") == 0) bound.quiet_timeout_ms = 0;
  options.rounds = 1;
}

}  // namespace

Result<Options> parseOptions(int argc, const char* const* argv) {
  CLI::App app("Collectives of libpopdist, the machine's limits and the peers", "bench/collectives");
  Bound bound;
  bind(app, bound);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    bound.options.help = true;
    return bound.options;
  } catch (const CLI::ParseError& error) {
    return invalidArgument(std::string(error.what()) + " (bench/collectives --help lists the options)");
  }
  if (bound.quick) applyQuick(app, bound);
  Options& options = bound.options;
  for (const int ranks : options.ranks) {
    if (ranks % options.hosts != 0) {
      return invalidArgument("--ranks " + std::to_string(ranks) + " cannot be spread evenly over --hosts " +
                             std::to_string(options.hosts));
    }
  }
  if (!bound.operations.empty()) options.operations.clear();
  for (const std::string& name : bound.operations) options.operations.push_back(*operationNamed(name));
  if (bound.large) options.bytes.push_back(kLarge);
  options.quiet_timeout = std::chrono::milliseconds(bound.quiet_timeout_ms);
  options.time_limit = std::chrono::milliseconds(bound.time_limit_ms);
  return options;
}

std::string help() {
  CLI::App app("Collectives of libpopdist, the machine's limits and the peers", "bench/collectives");
  Bound bound;
  bind(app, bound);
  return app.help();
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
