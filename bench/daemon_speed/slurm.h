// SPDX-License-Identifier: Apache-2.0
// A cluster of Debian's slurm-wlm: slurmctld and slurmd of one node, on this machine, as our own user.
#pragma once

#include <string>
#include <vector>

#include "bench/daemon_speed/processes.h"
#include "common/base/status.h"
#include "tests/testing/temp_dir.h"

namespace pop::bench {

class SlurmCluster {
 public:
  /// Returns when the node is idle. From then on this process's environment has SLURM_CONF. False, and says
  /// why, if it cannot take part, or if there are to be no peers.
  bool startUnless(bool no_peers);

  /// sbatch of a job that does nothing. `held`: it waits for its release.
  std::vector<std::string> sbatch(bool held) const;
  /// srun of `count` tasks that each print a line.
  std::vector<std::string> srun(int count) const;
  /// True when no job waits or runs.
  Result<bool> isIdle() const;

  pid_t controllerPid() const { return controller_.pid(); }

 private:
  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }
  Status writeConfiguration() const;
  Status start();

  testing::TempDir directory_;
  Served controller_;
  Served node_;  // ends first
};

}  // namespace pop::bench
