// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/contestants.h"

#include <unistd.h>

#include "bench/harness/command.h"
#include "bench/harness/options.h"

namespace pop::bench {
namespace {

// Each has its fastest options that do not make it hang, and the options that let it start more processes
// than there are cores, as root where needed, and unbound, which are poprun's defaults.
std::vector<Contestant> allContestants() {
  return {
      {.name = kPoprun, .program = "poprun", .options = {"--num-instances"}},
      {.name = kFloor, .program = "bench_launch_floor", .after_processes = {"1"}},
      {.name = kFloorOfTwoThreads, .program = "bench_launch_floor", .after_processes = {"2"}},
      {.name = kHydra, .is_peer = true, .program = "mpiexec.hydra", .options = {"-n"}},
      // odls_base_cutoff: starts processes from one thread. Its own default, four threads from 32 processes
      // on, hangs in many of its runs.
      {.name = kOpenMpi,
       .is_peer = true,
       .program = "mpirun.openmpi",
       .options = {"--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "odls_base_cutoff",
                   "100000", "-n"}},
      {.name = "prrte",
       .is_peer = true,
       .program = "prterun",
       .options = {"--map-by", ":OVERSUBSCRIBE", "--allow-run-as-root", "--bind-to", "none", "-n"}},
      {.name = "slurm",
       .is_peer = true,
       .program = "srun",
       .options = {"--nodes", "1", "--overcommit", "--cpu-bind", "none", "--ntasks"}},
      // monitor_interval: how often it checks whether its processes have ended; 5 s by default in torch 1.13.
      {.name = "torchrun",
       .is_peer = true,
       .program = "torchrun",
       .options = {"--no_python", "--monitor_interval", "0.1", "--nproc_per_node"}},
  };
}

}  // namespace

std::vector<std::string> Contestant::commandLine(int processes, const std::string& job_program) const {
  std::vector<std::string> words{program};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(std::to_string(processes));
  words.insert(words.end(), after_processes.begin(), after_processes.end());
  words.push_back(job_program);
  return words;
}

std::vector<std::string> contestantNames() {
  return namesOf(allContestants());
}

std::vector<Contestant> chooseContestants(const std::vector<std::string>& only,
                                          const std::string& own_directory) {
  std::vector<Contestant> chosen;
  for (Contestant& contestant : allContestants()) {
    if (!chooses(only, contestant.name)) continue;
    if (contestant.is_peer) {
      contestant.program = findInPath(contestant.program);
    } else {
      const std::string path = own_directory + '/' + contestant.program;
      contestant.program = ::access(path.c_str(), X_OK) == 0 ? path : "";
    }
    chosen.push_back(std::move(contestant));
  }
  return chosen;
}

}  // namespace pop::bench
