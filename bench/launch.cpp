// SPDX-License-Identifier: Apache-2.0
// Measures how quickly poprun starts and ends whole jobs, beside the floors and its peers. JSON lines on
// stdout, tables on stderr. It only reports: its exit code does not depend on the figures.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/command.h"
#include "bench/harness/session.h"
#include "bench/launch_hosts/beside_hosts.h"
#include "bench/launch_hosts/measure.h"
#include "bench/launch_speed/measure.h"

namespace pop::bench {
namespace {

bool isProgram(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

int benchmarkHere(const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted);
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
  report(measureAll(contestants, programs, options));
  return 0;
}

int benchmarkHosts(HostRig& rig, const LaunchOptions& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted);
  beginSession();
  const ScratchDirectory scratch;
  std::vector<HostContestant> contestants = chooseHostContestants(options.only);
  std::erase_if(contestants, [&](const HostContestant& each) {
    return !isUsable(each.name, whyUnusable(each, rig, options));
  });
  report(measureHosts(rig, contestants, options));
  return 0;
}

int benchmarkBesideHosts(const LaunchOptions& options) {
  if (::geteuid() != 0)
    return failed(invalidArgument("--hosts creates network namespaces, which needs root: use sudo"));
  HostRig rig(*std::max_element(options.host_counts.begin(), options.host_counts.end()), ownDirectory(),
              {"poprun", "poprun-hosts", "poprun-service", "popdist-agent", "popdist-agent-service",
               "popdist-topology", "bench_launch_rank", "bench_launch_fence", "bench_launch_tcp_floor"});
  const std::vector<HostContestant> chosen = chooseHostContestants(options.only);
  if (std::any_of(chosen.begin(), chosen.end(), [](const HostContestant& each) { return each.by_daemons; }))
    rig.startDaemons();
  return runBesideHosts([&] { return benchmarkHosts(rig, options); });
}

int benchmark(const LaunchOptions& options) {
  return options.host_counts.empty() ? benchmarkHere(options) : benchmarkBesideHosts(options);
}

}  // namespace
}  // namespace pop::bench

int main(int argc, char** argv) {
  return pop::bench::runMain(pop::bench::parseLaunchOptions(argc, argv), pop::bench::benchmark);
}
