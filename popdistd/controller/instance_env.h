// SPDX-License-Identifier: Apache-2.0
// From a placed job to what each instance is told: who it is, where the others are. Pure, and shared by the
// job that is run and the plan that is only shown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/model/placement.h"
#include "common/ports/agent_port.h"

namespace pop {

/// How to reach one host. Ports are texts: a plan that is only shown has none yet.
struct HostAddress {
  std::string address;
  std::vector<std::string> ports;
};

class InstanceEnvs {
 public:
  /// Both outlive this.
  InstanceEnvs(const model::JobSpec& spec, const std::vector<model::InstancePlacement>& placement);

  int instancesOn(int host) const { return instances_on_.at(static_cast<std::size_t>(host)); }

  /// Ports that the wanted families need on `host`: one for each instance (TF_CONFIG), and on the host of
  /// instance 0 those at which it serves the others.
  int portsOn(int host) const;

  /// `hosts[h]` has portsOn(h) ports.
  contract::Rendezvous rendezvous(std::span<const HostAddress> hosts) const;

  contract::PoplarTarget poplarTarget() const;

  /// What one instance is told, without its binding and its agent's socket.
  InstanceOrder order(const model::InstancePlacement& placement, const std::string& job_id,
                      int restart_count) const;

 private:
  bool wants(contract::EnvFamily family) const { return spec_.env_families.contains(family); }
  int portsOfInstances(int host) const;
  contract::InstanceEnv envOf(const model::InstancePlacement& placement) const;
  contract::InstancePlace placeOf(const model::InstancePlacement& placement) const;

  const model::JobSpec& spec_;
  const std::vector<model::InstancePlacement>& placement_;
  std::vector<int> instances_on_;  ///< each host
  std::vector<int> cross_size_;    ///< each local index: hosts that have such an instance
  std::vector<int> cross_rank_;    ///< each instance: those of them before its own
};

}  // namespace pop
