// SPDX-License-Identifier: Apache-2.0
// popdist-topology: prints this host's memory nodes and cores. The launcher runs it only when it needs them,
// so that it does not have to load hwloc itself.
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>

#include "agent/topo/hwloc_topology.h"
#include "agent/topo/topology_text.h"

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // useless without its launcher
  const auto detail = pop::agent::parseTopologyDetail(argc == 2 ? argv[1] : "");
  if (!detail.ok()) {
    std::fprintf(stderr, "usage: popdist-topology {cpus,nodes,cores}\n");
    return 2;
  }
  const auto topology = pop::agent::topologyOfThisHost(detail.value());
  if (!topology.ok()) {
    std::fprintf(stderr, "%s\n", topology.status().message().c_str());
    return 1;
  }
  return std::fputs(pop::agent::topologyText(topology.value()).c_str(), stdout) < 0 ||
         std::fflush(stdout) != 0;
}
