// SPDX-License-Identifier: Apache-2.0
// The hardware that popdistd partitions: clusters of IPU-Link domains (ILDs) of IPU-Machines, and the users
// who may use each machine. A cluster has the shape and the numbers of the Pod that it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/pod_shape.h"

namespace pop::vipu {

using model::GatewayTopology;
using model::IldTopology;
using model::kMachineIpus;
using model::kMaxIldIpus;
using model::kMaxIldMachines;
using model::kMaxIlds;

/// Some IPUs of an ILD: bit i is the IPU with topology id i.
using IpuMask = std::uint64_t;
static_assert(kMaxIldIpus == 64, "an IpuMask is an ILD");

/// Some IPUs of a cluster, by ILD.
using IpuMasks = std::vector<IpuMask>;

struct Cluster {
  std::string id;
  model::PodShape shape;

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// An IPU-Machine. V-IPU calls it by the agent that runs on it.
struct Agent {
  std::string id;
  std::string cluster;
  int ild = 0;
  int position = 0;  ///< in the ILD, 0 at the bottom
  std::string host;  ///< that serves it: where programs that use it run best
  std::string ip;    ///< of its IPU over Fabric server
  std::string gwsw_version;
  std::string ipum_sw_version;
  bool lost = false;                   ///< it has no connection
  std::optional<std::string> drained;  ///< why it gets no more partitions

  bool usable() const { return !lost && !drained; }
  IpuMask ipus() const { return IpuMask{(1U << kMachineIpus) - 1} << (position * kMachineIpus); }

  friend bool operator==(const Agent&, const Agent&) = default;
};

/// Machines of one cluster that some users may partition. A machine is in one allocation at most.
struct Allocation {
  std::string id;
  std::string cluster;
  std::vector<std::string> agents;
  std::vector<std::string> users;  ///< users who may use it; none: all

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

}  // namespace pop::vipu
