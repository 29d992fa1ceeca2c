// SPDX-License-Identifier: Apache-2.0
// The messages between the agent and popdist-pmix: frames on a socket pair. Numbers are decimal text. When
// the socket pair hangs up, popdist-pmix ends at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/contract/frame.h"

namespace pop::agent {

enum class PmixMessage : std::uint8_t {
  kJob = 1,  ///< → first and once: namespace, the server's namespace, directory, instances, index of this
             ///< host, its instances' programs ("0,0,1"); then for each host that has instances: name, first
             ///< instance, count
  kRelease = 2,     ///< → what the processes of all hosts have contributed to the fence
  kFence = 3,       ///< ← all instances of this host have entered the fence; what they have contributed
  kAbort = 4,       ///< ← instance, status, message; sent before the instance's call returns
  kSpawn = 5,       ///< ← instance, command that it wants to start; refused already
  kEnded = 6,       ///< → instance of this host that has exited with code 0
  kStuck = 7,       ///< ← instance, the one that it waits for, which has ended
  kFailed = 8,      ///< ← why the instances cannot be served; popdist-pmix ends
  kUnfinished = 9,  ///< ← instance that starts a program while its last one has not called PMIx_Finalize
};

/// Indices of a host's instances in the job: `first_instance`, `first_instance` + 1, …
struct PmixHost {
  std::string name;
  int first_instance = 0;
  int count = 0;

  friend bool operator==(const PmixHost&, const PmixHost&) = default;
};

struct PmixJob {
  std::string name;         ///< the namespace of its instances
  std::string server_name;  ///< the namespace of popdist-pmix, which is process 0 of it
  std::string directory;    ///< for files of the instances; popdist-pmix creates it
  int num_instances = 0;
  int this_host = 0;          ///< index into `hosts`
  std::vector<int> programs;  ///< of this host's instances: which of the job's programs each one runs
  std::vector<PmixHost> hosts;

  friend bool operator==(const PmixJob&, const PmixJob&) = default;
};

contract::Frame jobFrame(const PmixJob& job);

/// kDataLoss: `frame` does not describe a job.
Result<PmixJob> readJob(const contract::Frame& frame);

}  // namespace pop::agent
