// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "bench/launch_hosts/contestants.h"
#include "bench/launch_speed/contestants.h"

namespace pop::bench {
namespace {

struct Bound {
  LaunchOptions options;
  bool quick = false;
  int quiet_timeout_ms = 1000;
  int time_limit_ms = 10'000;
};

// Options of jobs on this host and of jobs over hosts.
std::set<std::string> allNames() {
  std::set<std::string> names;
  for (const std::string& name : contestantNames()) names.insert(name);
  for (const std::string& name : hostContestantNames()) names.insert(name);
  return names;
}

void bind(CLI::App& app, Bound& bound) {
  LaunchOptions& options = bound.options;
  app.set_help_flag("--help", "print this and exit");
  app.add_option("--n", options.process_counts, "numbers of processes, as in 1,8,128")
      ->delimiter(',')
      ->check(CLI::Range(1, 100'000));
  app.add_option("--hosts", options.host_counts,
                 "measure jobs over these numbers of hosts, as in 1,8,32; needs root")
      ->delimiter(',')
      ->check(CLI::Range(1, 128));
  app.add_option("--per-host", options.per_host, "with --hosts: processes on each host, as in 1,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  app.add_option("--repeats", options.repeats,
                 "counted runs of each figure; at most 3 from 512 processes on, 7 from 32 hosts on")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--only", options.only, "contestants, as in poprun,hydra")
      ->delimiter(',')
      ->check(CLI::IsMember(allNames()));
  app.add_option("--measure", options.measures,
                 "what to measure: time, mpi, rate, memory; with --hosts: time, cost, fence, memory, silence")
      ->delimiter(',')
      ->check(CLI::IsMember({"time", "mpi", "rate", "memory", "cost", "fence", "silence"}));
  app.add_option("--quiet-timeout-ms", bound.quiet_timeout_ms,
                 "how long a run waits for a quiet machine; 0: not at all")
      ->check(CLI::Range(0, 600'000));
  app.add_option("--time-limit-ms", bound.time_limit_ms,
                 "a run that takes longer than this plus 50 ms for each process counts as hung")
      ->check(CLI::Range(100, 3'600'000));
  app.add_flag("--quick", bound.quick, "smoke test: few and small runs, no peers, no quiet machine");
}

// --quick changes the defaults; explicit options still win.
void applyQuick(const CLI::App& app, Bound& bound) {
  LaunchOptions& options = bound.options;
  if (app.count("--n") == 0) options.process_counts = {1, 2, 8};
  if (app.count("--repeats") == 0) options.repeats = 3;
  if (app.count("--only") == 0) {
    options.only = options.host_counts.empty() ? std::vector<std::string>{kPoprun, kFloor, kFloorOfTwoThreads}
                                               : std::vector<std::string>{kPoprun, kSshLimit};
  }
  if (app.count("--quiet-timeout-ms") == 0) bound.quiet_timeout_ms = 0;
  options.jobs_per_rate = 10;
}

}  // namespace

bool LaunchOptions::measure(const std::string& what) const {
  return measures.empty() || std::find(measures.begin(), measures.end(), what) != measures.end();
}

Result<LaunchOptions> parseLaunchOptions(int argc, const char* const* argv) {
  CLI::App app("Launch speed of poprun, its floors and its peers", "bench/launch");
  Bound bound;
  bind(app, bound);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    bound.options.help = true;
    return bound.options;
  } catch (const CLI::ParseError& error) {
    return invalidArgument(std::string(error.what()) + " (bench/launch --help lists the options)");
  }
  if (bound.quick) applyQuick(app, bound);
  LaunchOptions& options = bound.options;
  options.repeats_of_large_jobs = std::min(options.repeats, options.repeats_of_large_jobs);
  options.quiet_timeout = std::chrono::milliseconds(bound.quiet_timeout_ms);
  options.time_limit = std::chrono::milliseconds(bound.time_limit_ms);
  return options;
}

std::string launchHelp() {
  CLI::App app("Launch speed of poprun, its floors and its peers", "bench/launch");
  Bound bound;
  bind(app, bound);
  return app.help();
}

}  // namespace pop::bench
