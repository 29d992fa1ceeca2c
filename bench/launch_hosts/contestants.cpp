// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/contestants.h"

#include "bench/harness/command.h"
#include "bench/harness/options.h"
#include "bench/launch_speed/contestants.h"

namespace pop::bench {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kParallel = "64";

Words poprunOnHosts(const HostRig& rig, const HostJob& job, const Words& reached, const Words& program) {
  Words words{rig.program("poprun"), "--host", rig.addresses(job.hosts, ","), "-n",
              std::to_string(job.processes())};
  words.insert(words.end(), reached.begin(), reached.end());
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

Words poprun(const HostRig& rig, const HostJob& job, KeyExchange) {
  return poprunOverSsh(rig, job, {rig.program("bench_launch_rank")});
}

Words poprunService(const HostRig& rig, const HostJob& job, KeyExchange) {
  return poprunByService(rig, job, {rig.program("bench_launch_rank")});
}

Words tcpFloor(const HostRig& rig, const HostJob& job, KeyExchange) {
  Words words{rig.program("bench_launch_tcp_floor"), "run", std::to_string(kFloorPort),
              std::to_string(job.per_host), rig.program("bench_launch_rank")};
  for (int host = 0; host < job.hosts; ++host) words.push_back(rig.address(host));
  return words;
}

Words parallelSsh(const HostRig& rig, const HostJob& job, KeyExchange exchange) {
  return wordsOf(findInPath("xargs"), "-a", rig.addressFile(job.hosts), "-P", kParallel, "-I", "{}",
                 findInPath("ssh"), "-F", rig.sshConfig(exchange), "{}", "true");
}

// -localhost: its proxies connect back to this name; our host name stands for another address on the hosts.
Words hydra(const HostRig& rig, const HostJob& job, KeyExchange exchange) {
  return wordsOf(findInPath("mpiexec.hydra"), "-launcher", "ssh", "-launcher-exec", rig.sshCommand(exchange),
                 "-localhost", rig.ownAddress(), "-hosts",
                 rig.addresses(job.hosts, ",", ':' + std::to_string(job.per_host)), "-n",
                 std::to_string(job.processes()), rig.program("bench_launch_rank"));
}

// Its ssh tree from host to host is faster than direct connections. odls_base_cutoff: see
// ../launch_speed/contestants.cpp.
Words openMpi(const HostRig& rig, const HostJob& job, KeyExchange exchange) {
  return wordsOf(findInPath("mpirun.openmpi"), "--allow-run-as-root", "--bind-to", "none", "--mca",
                 "odls_base_cutoff", "100000", "--mca", "plm_rsh_agent", rig.sshCommand(exchange), "--mca",
                 "oob_tcp_if_include", rig.network(), "--host",
                 rig.addresses(job.hosts, ",", ':' + std::to_string(job.per_host)), "-n",
                 std::to_string(job.processes()), rig.program("bench_launch_rank"));
}

Words pdsh(const HostRig& rig, const HostJob& job, KeyExchange exchange) {
  return wordsOf(findInPath("env"), "PDSH_SSH_ARGS=-F " + rig.sshConfig(exchange) + " %h", findInPath("pdsh"),
                 "-R", "ssh", "-f", kParallel, "-w", rig.addresses(job.hosts, ","), "true");
}

Words clush(const HostRig& rig, const HostJob& job, KeyExchange exchange) {
  return wordsOf(findInPath("clush"), "-o", "-F " + rig.sshConfig(exchange), "-f", kParallel, "-w",
                 rig.addresses(job.hosts, ","), "true");
}

std::vector<HostContestant> allContestants() {
  std::vector<HostContestant> all{
      {.name = kPoprun, .command = poprun, .running = poprunOverSsh},
      {.name = kPoprunByService, .by_daemons = true, .command = poprunService, .running = poprunByService},
      {.name = kTcpFloor, .by_daemons = true, .command = tcpFloor}};
  const HostContestant others[] = {
      {.name = "ssh", .starts_ranks = false, .command = parallelSsh, .needs = "ssh"},
      {.name = kHydra, .is_peer = true, .command = hydra, .needs = "mpiexec.hydra"},
      {.name = kOpenMpi, .is_peer = true, .command = openMpi, .needs = "mpirun.openmpi"},
      {.name = "pdsh", .is_peer = true, .starts_ranks = false, .command = pdsh, .needs = "pdsh"},
      {.name = "clush", .is_peer = true, .starts_ranks = false, .command = clush, .needs = "clush"},
  };
  for (const HostContestant& each : others) {
    all.push_back(each);
    all.push_back(each);
    all.back().name += "-curve25519";
    all.back().exchange = KeyExchange::kCurve25519;
  }
  return all;
}

}  // namespace

std::vector<std::string> hostContestantNames() {
  return namesOf(allContestants());
}

std::vector<HostContestant> chooseHostContestants(const std::vector<std::string>& only) {
  std::vector<HostContestant> chosen = allContestants();
  std::erase_if(chosen, [&](const HostContestant& each) { return !chooses(only, each.name); });
  return chosen;
}

Words poprunOverSsh(const HostRig& rig, const HostJob& job, const Words& program) {
  return poprunOnHosts(
      rig, job,
      {"--ssh-config", rig.sshConfig(KeyExchange::kDefault), "--agent-path", rig.program("popdist-agent")},
      program);
}

Words poprunByService(const HostRig& rig, const HostJob& job, const Words& program) {
  return poprunOnHosts(
      rig, job, {"--agent-port", std::to_string(kServicePort), "--agent-tls", rig.daemons().tls()}, program);
}

}  // namespace pop::bench
