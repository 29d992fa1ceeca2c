// SPDX-License-Identifier: Apache-2.0
// A job placed on its hosts: which instances each host runs, and the slice that its agent gets. Made anew for
// fewer hosts when some are lost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/model/placement.h"
#include "common/ports/agent_port.h"
#include "common/ports/job_report.h"
#include "controller/core/instance_env.h"

namespace pop {

class PlacedJob {
 public:
  /// `spec` must be free of mistakes.
  explicit PlacedJob(model::JobSpec spec);
  PlacedJob(const PlacedJob&) = delete;
  PlacedJob& operator=(const PlacedJob&) = delete;

  const model::JobSpec& spec() const { return spec_; }
  const std::vector<model::InstancePlacement>& placement() const { return placement_; }
  const InstanceEnvs& envs() const { return envs_; }

  /// The instances of `host`, which are consecutive.
  struct Range {
    int first = 0;
    int end = 0;
    bool empty() const { return first == end; }
  };
  Range instancesOn(int host) const { return instances_on_[static_cast<std::size_t>(host)]; }
  int hostsWithInstances() const { return static_cast<int>(hosts_->size()); }

  /// Place of each instance; `bindings[h]` are the bindings of the instances on host h, in their order.
  std::vector<PlacedInstance> instances(const std::vector<model::Bindings>& bindings) const;

  /// The slice for the agent of `host`; `bindings` are the bindings of its instances.
  JobSlice slice(int host, const std::string& job_id, int restart_count,
                 const contract::Rendezvous& rendezvous, const model::Bindings& bindings) const;

  /// The same job on the hosts that are not `gone`; an error says why it cannot run on them.
  Result<model::JobSpec> without(const std::vector<bool>& gone) const;

 private:
  const model::JobSpec spec_;
  const std::vector<model::InstancePlacement> placement_;
  const InstanceEnvs envs_;
  std::vector<Range> instances_on_;
  SharedHostInstances hosts_;  ///< those with instances
};

}  // namespace pop
