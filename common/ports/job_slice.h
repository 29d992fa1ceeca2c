// SPDX-License-Identifier: Apache-2.0
// The values that pass through the agent port: a job's slice for one host, and the agent's reports about the
// host and the instances. Values only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/contract/env_contract.h"
#include "common/contract/env_frameworks.h"
#include "common/contract/exit_code.h"
#include "common/contract/report_page.h"
#include "common/model/binding.h"
#include "common/model/job_spec.h"

namespace pop {

/// An agent's description of its host, before a job is placed on it.
struct HostFacts {
  std::string address;     ///< at which the other hosts reach this one
  std::vector<int> ports;  ///< free ones, kept so until the instances start
  model::HostTopology topology;
};

/// The order to start one instance.
struct InstanceOrder {
  contract::InstanceEnv env;
  contract::InstancePlace place;
  int program = 0;  ///< index into JobSlice::programs
  model::Binding binding;
};

/// The instances of one of a job's hosts: `count` of them, from `first` on.
struct HostInstances {
  std::string host;  ///< its name
  int first = 0;
  int count = 0;

  friend bool operator==(const HostInstances&, const HostInstances&) = default;
};
using SharedHostInstances = std::shared_ptr<const std::vector<HostInstances>>;  ///< never null

/// The part of a job that one host runs.
struct JobSlice {
  std::string job_id;
  std::string key;                       ///< 16 bytes: how the job's instances know each other
  std::string host_address;              ///< at which instances of other hosts reach those of this one
  int num_instances = 1;                 ///< of the whole job
  std::vector<model::Program> programs;  ///< of the whole job
  std::vector<InstanceOrder> instances;  ///< of this host
  SharedHostInstances hosts =            ///< of the whole job, in order: those that run instances
      std::make_shared<const std::vector<HostInstances>>();
  contract::Rendezvous rendezvous;
  contract::PoplarTarget poplar;
  contract::EnvFamilies env_families;
  std::vector<contract::Variable> environment;  ///< the user's, for all instances
  model::StdinPolicy stdin_policy;
  std::chrono::milliseconds kill_grace{0};
  bool reports_wanted = false;  ///< a client wants the instances' reports on themselves
};

/// The newest value that an instance has reported of itself under a name.
struct InstanceValue {
  int instance = 0;
  std::string name;  ///< any bytes, at most contract::kMostReportedNameBytes
  contract::Fold fold = contract::Fold::kSum;
  double value = 0;  ///< finite

  friend bool operator==(const InstanceValue&, const InstanceValue&) = default;
};

/// The end of an instance.
struct InstanceEnd {
  contract::ExitStatus status;  ///< when it could not be started: code 126 or 127
  std::string reason;  ///< when the status does not say it all: "could not be started: …"; else empty
  int told_by = -1;    ///< the instance whose failure it was told of last; -1: none

  /// It was not started, or its keeper is gone: not by itself.
  bool isLost() const { return !reason.empty() && shellExitCode(status) < contract::kExitSignalBase; }
};

/// Stack of an instance when asked.
struct StackTrace {
  int instance = 0;
  pid_t pid = 0;
  std::string text;  ///< lines
  std::string host;  ///< its name; the controller knows

  friend bool operator==(const StackTrace&, const StackTrace&) = default;
};

/// Sent to every instance that is still running.
struct EndNotice {
  int instance = 0;
  bool clean = false;  ///< it exited with code 0
  std::string text;    ///< "instance 2 (pid 712) was killed by SIGKILL"

  friend bool operator==(const EndNotice&, const EndNotice&) = default;
};

/// A job's fences. Each has all instances of the job, and opens regardless of the others.
enum class FenceId : std::uint8_t {
  kInstances,  ///< libpopdist's
  kPmi,        ///< of MPI libraries that speak PMI-1
  kPmix        ///< of those that speak PMIx
};
inline constexpr std::size_t kNumFences = 3;

/// The values that instances have put, by key.
using PutValues = std::map<std::string, std::string>;

// Values that are the same for every host, shared among all of them. Never null.
using SharedPutValues = std::shared_ptr<const PutValues>;
using SharedEndNotices = std::shared_ptr<const std::vector<EndNotice>>;

enum class Stream : std::uint8_t { kStdout, kStderr };

}  // namespace pop
