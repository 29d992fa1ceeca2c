// SPDX-License-Identifier: Apache-2.0
// The contestants for jobs over hosts. Over SSH: poprun, the limit set by parallel ssh, and the peers. With
// running daemons: poprun by the agent service, and the floor under that.
#pragma once

#include <string>
#include <vector>

#include "bench/launch_hosts/rig.h"

namespace pop::bench {

/// One process on each host that only connects and runs `true`: a lower bound for launchers over OpenSSH.
inline const std::string kSshLimit = "ssh-curve25519";

inline const std::string kPoprunByService = "poprun-service";
inline const std::string kTcpFloor = "tcp-floor";

struct HostJob {
  int hosts = 1;
  int per_host = 1;

  int processes() const { return hosts * per_host; }
};

struct HostContestant {
  std::string name;
  bool is_peer = false;      // a launcher of others; the limit is none
  bool starts_ranks = true;  // else it runs `true`, once on each host
  bool by_daemons = false;   // needs HostRig::startDaemons first
  std::vector<std::string> (*command)(const HostRig& rig, const HostJob& job, KeyExchange exchange) = nullptr;
  KeyExchange exchange = KeyExchange::kDefault;
  std::string needs;  // a program that must be installed; empty: one of our own
  // The command line for any program; null except for poprun.
  std::vector<std::string> (*running)(const HostRig& rig, const HostJob& job,
                                      const std::vector<std::string>& program) = nullptr;

  bool can(const HostJob& job) const { return starts_ranks || job.per_host == 1; }
};

std::vector<std::string> hostContestantNames();

/// The contestants named in `only`; empty: all.
std::vector<HostContestant> chooseHostContestants(const std::vector<std::string>& only);

/// The command line of poprun for `job`, with `program` at its end.
std::vector<std::string> poprunOverSsh(const HostRig& rig, const HostJob& job,
                                       const std::vector<std::string>& program);
std::vector<std::string> poprunByService(const HostRig& rig, const HostJob& job,
                                         const std::vector<std::string>& program);

}  // namespace pop::bench
