// SPDX-License-Identifier: Apache-2.0
// Measures libpopdist's collectives beside the machine's limits and the peers. JSON lines on stdout, tables
// on stderr. It only reports: its exit code does not depend on the figures.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/goals.h"
#include "bench/collectives_speed/measure.h"
#include "bench/collectives_speed/options.h"
#include "bench/collectives_speed/report.h"
#include "bench/harness/command.h"
#include "bench/harness/session.h"
#include "bench/launch_hosts/beside_hosts.h"
#include "bench/launch_hosts/rig.h"

namespace pop::bench::collectives {
namespace {

int benchmark(const Options& options, const HostRig* rig) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) {
    std::fprintf(stderr, "bench/collectives: %s\n", adopted.message().c_str());
    return 1;
  }
  beginSession();
  const ScratchDirectory scratch;  // of launchers that are killed, and where Gloo's ranks meet
  const std::string own_directory = ownDirectory();
  std::vector<Contestant> contestants = chooseContestants(options.only, own_directory, rig);
  std::erase_if(contestants, [](const Contestant& each) { return !isUsable(each.name, whyUnusable(each)); });
  LimitsProgram limits{.path = own_directory + "/bench_collectives_limits", .tcp_path = {}};
  if (rig != nullptr) limits.tcp_path = {rig->networkSpace(0), rig->networkSpace(1), rig->address(1)};
  const Figures figures = measureAll(contestants, limits, options);
  showProgress("");
  const std::vector<Goal> goals = judge(figures);
  for (const JsonLine& line : toJson(figures, goals)) record(line);
  std::fputs(inWords(figures, goals).c_str(), stderr);
  return 0;
}

int benchmarkOverHosts(const Options& options) {
  if (::geteuid() != 0) {
    std::fputs("bench/collectives: --hosts creates network namespaces, which needs root: use sudo\n", stderr);
    return 1;
  }
  HostRig rig(options.hosts, ownDirectory(), {"poprun", "poprun-hosts", "popdist-agent", "popdist-topology"});
  rig.giveCores();
  return runBesideHosts([&] { return benchmark(options, &rig); });
}

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  const auto options = pop::bench::collectives::parseOptions(argc, argv);
  if (!options.ok()) {
    std::fprintf(stderr, "bench/collectives: %s\n", options.status().message().c_str());
    return 2;
  }
  if (options.value().help) {
    std::fputs(pop::bench::collectives::help().c_str(), stdout);
    return 0;
  }
  return options.value().hosts > 1 ? pop::bench::collectives::benchmarkOverHosts(options.value())
                                   : pop::bench::collectives::benchmark(options.value(), nullptr);
}
