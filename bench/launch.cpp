// SPDX-License-Identifier: Apache-2.0
// Measures how quickly poprun starts and ends whole jobs, beside the floors and its peers. JSON lines on
// stdout, tables on stderr. It only reports: its exit code does not depend on the figures.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/command.h"
#include "bench/harness/session.h"
#include "bench/launch_hosts/beside_hosts.h"
#include "bench/launch_hosts/contestants.h"
#include "bench/launch_hosts/measure.h"
#include "bench/launch_hosts/report.h"
#include "bench/launch_hosts/rig.h"
#include "bench/launch_speed/contestants.h"
#include "bench/launch_speed/goals.h"
#include "bench/launch_speed/measure.h"
#include "bench/launch_speed/options.h"
#include "bench/launch_speed/report.h"

namespace pop::bench {
namespace {

template <typename AllFigures>
void report(const AllFigures& figures) {
  showProgress("");
  const std::vector<Goal> goals = judge(figures);
  for (const JsonLine& line : toJson(figures, goals)) record(line);
  std::fputs(inWords(figures, goals).c_str(), stderr);
}

bool isProgram(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

int failed(const std::string& why) {
  std::fprintf(stderr, "bench/launch: %s\n", why.c_str());
  return 1;
}

int benchmark(const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted.message());
  beginSession();
  const ScratchDirectory scratch;
  std::vector<std::string> own{"poprun", "popdist-topology", "bench_launch_floor", "bench_launch_rank"};
  if (isProgram(ownDirectory() / "popdist-pmix")) own.emplace_back("popdist-pmix");
  const std::string own_directory = scratch.install(ownDirectory(), own);
  JobPrograms programs{findInPath("true"), own_directory + "/bench_launch_rank"};
  for (const auto& [name, launcher] : {std::pair("mpich", kHydra), std::pair("openmpi", kOpenMpi)}) {
    const std::string path = ownDirectory() / (std::string("bench_launch_") + name);
    if (isProgram(path)) programs.mpi.push_back({name, path, launcher});
  }
  std::vector<Contestant> contestants = chooseContestants(options.only, own_directory);
  std::erase_if(contestants,
                [&](const Contestant& each) { return !isUsable(each.name, whyUnusable(each, programs)); });
  report(measureAll(contestants, programs, options, {record, showProgress}));
  return 0;
}

int benchmarkHosts(HostRig& rig, const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted.message());
  beginSession();
  const ScratchDirectory scratch;
  std::vector<HostContestant> contestants = chooseHostContestants(options.only);
  std::erase_if(contestants, [&](const HostContestant& each) {
    return !isUsable(each.name, whyUnusable(each, rig, options));
  });
  report(measureHosts(rig, contestants, options, {record, showProgress}));
  return 0;
}

int benchmarkBesideHosts(const LaunchOptions& options) {
  if (::geteuid() != 0) return failed("--hosts creates network namespaces, which needs root: use sudo");
  HostRig rig(*std::max_element(options.host_counts.begin(), options.host_counts.end()), ownDirectory(),
              {"poprun", "poprun-hosts", "poprun-service", "popdist-agent", "popdist-agent-service",
               "popdist-topology", "bench_launch_rank", "bench_launch_fence", "bench_launch_tcp_floor"});
  const std::vector<HostContestant> chosen = chooseHostContestants(options.only);
  if (std::any_of(chosen.begin(), chosen.end(), [](const HostContestant& each) { return each.by_daemons; }))
    rig.startDaemons();
  return runBesideHosts([&] { return benchmarkHosts(rig, options); });
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  const auto options = pop::bench::parseLaunchOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "bench/launch: %s\n", options.status().message().c_str());
    return 2;
  }
  if (options.value().help) {
    std::fputs(pop::bench::launchHelp().c_str(), stdout);
    return 0;
  }
  return options.value().host_counts.empty() ? pop::bench::benchmark(options.value())
                                             : pop::bench::benchmarkBesideHosts(options.value());
}
