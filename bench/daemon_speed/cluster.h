// SPDX-License-Identifier: Apache-2.0
// A cluster of one popdistd and at most one host that has joined it, all on this machine, with mutual TLS.
#pragma once

#include <string>
#include <vector>

#include "bench/daemon_speed/processes.h"
#include "common/base/status.h"
#include "tests/testing/temp_dir.h"

namespace pop::bench {

class PopCluster {
 public:
  PopCluster();

  /// `programs`: the directory of ours. `etcd`: where its store is, under a prefix of its own; empty: in a
  /// file. Returns when the daemon serves.
  Status startDaemon(const std::string& programs, const std::string& etcd);
  /// Returns when a host with so many slots has joined.
  Status startHost(const std::string& programs, int slots);

  std::string server() const { return "localhost:" + std::to_string(port_); }
  /// With ca.pem, user-bench.pem and its key.
  std::string tls() const { return path("tls"); }
  pid_t daemonPid() const { return daemon_.pid(); }
  /// The agent service's; 0: there is no host.
  pid_t hostPid() const { return host_.pid(); }

 private:
  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }

  testing::TempDir directory_;
  int port_;
  Served daemon_;
  Served host_;  // ends first
};

}  // namespace pop::bench
