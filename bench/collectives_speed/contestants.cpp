// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/contestants.h"

#include <unistd.h>

#include "bench/harness/command.h"
#include "bench/harness/options.h"
#include "bench/launch_hosts/rig.h"

namespace pop::bench::collectives {
namespace {

constexpr const char* kGlooHosts = "gloo-hosts";
constexpr const char* kOpenMpiHosts = "openmpi-hosts";
constexpr const char* kOpenMpiHostsTcp = "openmpi-hosts-tcp";

// poprun's default: free to run on all cores.
Contestant popdist(const std::string& name, const std::string& memory) {
  return {.name = name,
          .family = Family::kOurs,
          .launcher = "poprun",
          .ranks_option = "--num-instances",
          .rank_program = "bench_collectives_popdist",
          .variant = memory};
}

// A barrier has no memory: it is measured once.
Contestant inSharedBuffers() {
  Contestant contestant = popdist(kShared, "shared");
  contestant.operations = {Operation::kAllReduce, Operation::kBroadcast, Operation::kAllGather,
                           Operation::kReduceScatter, Operation::kAllToAll};
  return contestant;
}

Contestant overTcp() {
  Contestant contestant = popdist(kTcp, "tcp");
  contestant.environment = {"POPDIST_TRANSPORT=tcp"};
  return contestant;
}

// Bound to cores if there are enough. Otherwise Open MPI must be told to share them and to yield: its own
// test compares ranks with slots, not with cores.
Contestant openMpi(const std::string& name, Family family, const std::string& transports,
                   std::vector<std::string> further) {
  Contestant contestant{
      .name = name,
      .family = family,
      .launcher = "mpirun.openmpi",
      .options = {"--allow-run-as-root", "--mca", "pml", "ob1", "--mca", "btl", transports},
      .if_a_core_each = {"--bind-to", "core"},
      .if_crowded = {"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"},
      .ranks_option = "-n",
      .rank_program = "bench_collectives_openmpi"};
  contestant.options.insert(contestant.options.end(), further.begin(), further.end());
  return contestant;
}

// Algorithms of tuned for all-reduce: 4 is the non-segmented ring, 6 Rabenseifner's.
Contestant openMpiAllReduce(const std::string& name, const std::string& algorithm) {
  Contestant contestant = openMpi(
      name, Family::kOpenMpi, "vader,self",
      {"--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_allreduce_algorithm", algorithm});
  contestant.operations = {Operation::kAllReduce};
  return contestant;
}

// It has no setting for yielding: with more ranks than cores its times are the scheduler's time slices.
Contestant mpich(const std::string& name) {
  return {.name = name,
          .family = Family::kMpich,
          .launcher = "mpiexec.hydra",
          .if_a_core_each = {"-bind-to", "core"},
          .ranks_option = "-n",
          .rank_program = "bench_collectives_mpich"};
}

// Collectives through buffers in shared memory, for the operations that have such a version.
Contestant mpichReleaseGather() {
  Contestant contestant = mpich("mpich-relgather");
  contestant.operations = {Operation::kAllReduce, Operation::kBroadcast, Operation::kBarrier};
  for (const std::string operation : {"ALLREDUCE", "BCAST", "REDUCE", "BARRIER"})
    contestant.environment.push_back("MPIR_CVAR_" + operation + "_POSIX_INTRA_ALGORITHM=release_gather");
  for (const std::string operation : {"BCAST", "REDUCE"})
    contestant.environment.push_back("MPIR_CVAR_" + operation + "_INTRANODE_BUFFER_TOTAL_SIZE=262144");
  return contestant;
}

// Started by poprun as ours are. Never bound: its second thread would share a rank's core.
Contestant gloo(const std::string& name, const std::string& variant, std::vector<Operation> operations) {
  Contestant contestant = popdist(name, variant);
  contestant.family = Family::kGloo;
  contestant.rank_program = "bench_collectives_gloo";
  contestant.operations = std::move(operations);
  return contestant;
}

std::vector<Contestant> allContestants() {
  return {popdist(kPrivate, "private"),
          inSharedBuffers(),
          overTcp(),
          openMpi("openmpi", Family::kOpenMpi, "vader,self", {}),
          openMpiAllReduce("openmpi-ring", "4"),
          openMpiAllReduce("openmpi-rabenseifner", "6"),
          mpich("mpich"),
          mpichReleaseGather(),
          openMpi("openmpi-tcp", Family::kOpenMpiTcp, "tcp,self", {"--mca", "btl_tcp_if_include", "lo"}),
          gloo("gloo", "ring", {}),
          gloo("gloo-bcube", "bcube", {Operation::kAllReduce}),
          gloo("gloo-halving", "halving", {Operation::kAllReduce})};
}

// Paths of the rig's programs, visible on all its hosts.
std::vector<std::string> poprunOn(const HostRig& rig) {
  return wordsOf("--ssh-config", rig.sshConfig(KeyExchange::kDefault), "--agent-path",
                 rig.program("popdist-agent"), "--host", rig.addresses(rig.size(), ","));
}

// Ranks in the order of hosts, as with poprun.
std::vector<std::string> openMpiOn(const HostRig& rig) {
  return wordsOf("--mca", "plm_rsh_agent", rig.sshCommand(KeyExchange::kCurve25519), "--mca",
                 "oob_tcp_if_include", rig.network(), "--mca", "btl_tcp_if_include", rig.network(), "--host",
                 rig.addresses(rig.size(), ","), "--map-by", "node", "--rank-by", "slot");
}

Contestant glooOver(const HostRig& rig) {
  Contestant contestant = gloo(kGlooHosts, "ring", {});
  contestant.options = poprunOn(rig);
  for (const std::string& variable :
       {"TMPDIR=" + rig.commonDirectory(), std::string("BENCH_GLOO_INTERFACE=eth0")})
    contestant.options.insert(contestant.options.end(), {"-x", variable});
  return contestant;
}

std::vector<Contestant> contestantsOver(const HostRig& rig) {
  std::vector<Contestant> all{popdist(kHosts, "private"), inSharedBuffers()};
  all.back().name = kHostsShared;
  for (Contestant& ours : all) ours.options = poprunOn(rig);
  all.push_back(glooOver(rig));
  for (Contestant peer : {openMpi(kOpenMpiHosts, Family::kOpenMpiHosts, "vader,tcp,self", openMpiOn(rig)),
                          openMpi(kOpenMpiHostsTcp, Family::kOpenMpiTcp, "tcp,self", openMpiOn(rig))}) {
    // Its daemon runs on the host's one core, and the ranks inherit that. With binding it would count the
    // whole machine's cores, and give the first one to the first rank of every host.
    peer.if_a_core_each = {"--bind-to", "none"};
    all.push_back(std::move(peer));
  }
  return all;
}

std::string pathOfOurs(const std::string& program, const std::string& own_directory) {
  const std::string path = own_directory + '/' + program;
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

}  // namespace

bool Contestant::takesPart(const Cell& cell) const {
  return chooses(operations, cell.operation) &&
         (cell.type == popdist::Type::kFloat || family == Family::kOurs);
}

std::vector<std::string> Contestant::commandLine(const Cell& cell, int batches, int cores) const {
  std::vector<std::string> words;
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (!environment.empty()) {
    add({"/usr/bin/env"});
    add(environment);
  }
  add({launcher});
  add(options);
  add(cell.ranks <= cores ? if_a_core_each : if_crowded);
  add({ranks_option, std::to_string(cell.ranks), rank_program, nameOf(cell.operation),
       popdist::nameOf(cell.type), std::to_string(cell.bytes), std::to_string(batches)});
  if (!variant.empty()) add({variant});
  return words;
}

bool isOverTcp(const std::string& contestant, Family family) {
  return contestant == kTcp || contestant == kHosts || contestant == kHostsShared ||
         family == Family::kOpenMpiTcp || family == Family::kOpenMpiHosts || family == Family::kGloo;
}

std::vector<std::string> contestantNames() {
  std::vector<std::string> names = namesOf(allContestants());
  names.insert(names.end(), {kHosts, kHostsShared, kGlooHosts, kOpenMpiHosts, kOpenMpiHostsTcp});
  return names;
}

std::vector<Contestant> chooseContestants(const std::vector<std::string>& only,
                                          const std::string& own_directory, const HostRig* rig) {
  std::vector<Contestant> chosen;
  for (Contestant& contestant : rig == nullptr ? allContestants() : contestantsOver(*rig)) {
    if (!chooses(only, contestant.name)) continue;
    contestant.launcher = contestant.launcher == "poprun" ? pathOfOurs("poprun", own_directory)
                                                          : findInPath(contestant.launcher);
    contestant.rank_program = pathOfOurs(contestant.rank_program, own_directory);
    chosen.push_back(std::move(contestant));
  }
  return chosen;
}

}  // namespace pop::bench::collectives
