// SPDX-License-Identifier: Apache-2.0
// Derives each instance's environment from a placed job: its indices and the addresses of the others. A pure
// function, used to run a job and to show a plan.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/model/placement.h"
#include "common/ports/agent_port.h"

namespace pop {

/// Address of one host. Ports are text, because a plan that is only shown has placeholders.
struct HostAddress {
  std::string address;
  std::vector<std::string> ports;
};

class InstanceEnvs {
 public:
  /// Both must outlive this.
  InstanceEnvs(const model::JobSpec& spec, const std::vector<model::InstancePlacement>& placement);

  int instancesOn(int host) const { return instances_on_.at(static_cast<std::size_t>(host)); }

  /// The number of ports that the selected framework families need on `host`: one for each instance
  /// (TF_CONFIG), and on the host of instance 0 the ports at which it serves the others.
  int portsOn(int host) const;

  /// `hosts[h]` has portsOn(h) ports.
  contract::Rendezvous rendezvous(std::span<const HostAddress> hosts) const;

  contract::PoplarTarget poplarTarget() const;

  /// The order for one instance, without its binding and its agent's socket.
  InstanceOrder order(const model::InstancePlacement& placement, const std::string& job_id,
                      int restart_count) const;

 private:
  bool wants(contract::EnvFamily family) const { return spec_.env_families.contains(family); }
  int portsOfInstances(int host) const;
  contract::InstanceEnv envOf(const model::InstancePlacement& placement) const;
  contract::InstancePlace placeOf(const model::InstancePlacement& placement) const;

  const model::JobSpec& spec_;
  const std::vector<model::InstancePlacement>& placement_;
  std::vector<int> instances_on_;  ///< for each host
  std::vector<int> cross_size_;    ///< for each local index, the number of hosts with such an instance
  std::vector<int> cross_rank_;    ///< for each instance, the number of these hosts before its own
};

}  // namespace pop
