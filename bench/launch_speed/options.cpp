// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/options.h"

#include <CLI/CLI.hpp>

#include "bench/launch_hosts/contestants.h"
#include "bench/launch_speed/contestants.h"

namespace pop::bench {
namespace {

// Explicit options still win.
void applyQuick(const CLI::App& app, LaunchOptions& options) {
  if (app.count("--n") == 0) options.process_counts = {1, 2, 8};
  if (app.count("--repeats") == 0) options.repeats = 3;
  if (app.count("--only") == 0) {
    options.only = options.host_counts.empty() ? std::vector<std::string>{kPoprun, kFloor, kFloorOfTwoThreads}
                                               : std::vector<std::string>{kPoprun, kSshLimit};
  }
  options.jobs_per_rate = 10;
}

}  // namespace

Result<LaunchOptions> parseLaunchOptions(int argc, const char* const* argv) {
  CLI::App app("Launch speed of poprun, its floors and its peers", "bench/launch");
  LaunchOptions options;
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
  app.add_option("--measure", options.measures,
                 "what to measure: time, mpi, rate, memory; with --hosts: time, cost, fence, memory, silence")
      ->delimiter(',')
      ->check(CLI::IsMember({"time", "mpi", "rate", "memory", "cost", "fence", "silence"}));
  std::vector<std::string> names = contestantNames();
  for (const std::string& name : hostContestantNames())
    if (!chooses(names, name)) names.push_back(name);
  addRunOptions(app, names, options);
  addQuick(app, options);
  POP_RETURN_IF_ERROR(parse(app, argc, argv, options));
  if (options.quick) applyQuick(app, options);
  return options;
}

}  // namespace pop::bench
