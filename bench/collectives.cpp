// SPDX-License-Identifier: Apache-2.0
// Measures libpopdist's collectives beside the machine's limits and the peers. JSON lines on stdout, tables
// on stderr. It only reports: its exit code does not depend on the figures.
#include <unistd.h>

#include <string>
#include <vector>

#include "bench/collectives_speed/measure.h"
#include "bench/harness/command.h"
#include "bench/harness/session.h"
#include "bench/launch_hosts/beside_hosts.h"
#include "bench/launch_hosts/rig.h"

namespace pop::bench::collectives {
namespace {

int benchmarkOn(const HostRig* rig, const Options& options) {
  if (const Status adopted = adoptOrphans(); !adopted.ok()) return failed(adopted);
  beginSession();
  const ScratchDirectory scratch;  // of launchers that are killed, and where Gloo's ranks meet
  const std::string own_directory = ownDirectory();
  std::vector<Contestant> contestants = chooseContestants(options.only, own_directory, rig);
  std::erase_if(contestants, [](const Contestant& each) { return !isUsable(each.name, whyUnusable(each)); });
  LimitsProgram limits{.path = own_directory + "/bench_collectives_limits", .tcp_path = {}};
  if (rig != nullptr) limits.tcp_path = {rig->networkSpace(0), rig->networkSpace(1), rig->address(1)};
  report(measureAll(contestants, limits, options));
  return 0;
}

int benchmark(const Options& options) {
  if (options.hosts == 1) return benchmarkOn(nullptr, options);
  if (::geteuid() != 0)
    return failed(invalidArgument("--hosts creates network namespaces, which needs root: use sudo"));
  HostRig rig(options.hosts, ownDirectory(), {"poprun", "poprun-hosts", "popdist-agent", "popdist-topology"});
  rig.giveCores();
  return runBesideHosts([&] { return benchmarkOn(&rig, options); });
}

}  // namespace
}  // namespace pop::bench::collectives

int main(int argc, char** argv) {
  return pop::bench::runMain(pop::bench::collectives::parseOptions(argc, argv),
                             pop::bench::collectives::benchmark);
}
