// SPDX-License-Identifier: Apache-2.0
// The plan of a job as --dry-run shows it, as text and as JSON: where each instance runs, with which
// environment, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/binding.h"
#include "common/model/job_spec.h"
#include "common/model/placement.h"
#include "common/ports/agent_port.h"

namespace pop {

/// The bindings of each host's instances, by host; nothing for a host whose topology is not known here.
using HostBindings = std::vector<std::optional<model::Bindings>>;

/// Replaces TF_CONFIG's cluster, which is long and the same for all instances.
inline constexpr const char* kTfClusterPlaceholder = "<tf cluster>";

struct PlannedInstance {
  model::InstancePlacement placement;
  int program = 0;
  std::optional<model::Binding> binding;        ///< nothing: decided on the host
  std::vector<contract::Variable> environment;  ///< that differ between instances
};

struct PlanView {
  std::vector<model::InstancePlacement> placement;
  std::vector<PlannedInstance> instances;
  std::vector<contract::Variable> environment;  ///< variables common to all instances
  std::string tf_cluster;            ///< the value of kTfClusterPlaceholder; empty: TF_CONFIG is not set
  std::vector<std::string> reasons;  ///< the reasons of the decisions, a sentence each
  std::vector<std::string> warnings;
};

/// True if the job's Pod is its partition, whose shape whoever gets it knows.
bool isOfPartition(const model::JobSpec& spec);

/// `spec` must be free of mistakes. Values that are decided only at the start (ports, addresses, job id, …)
/// are shown as names in <angle brackets>, never invented. Fails if the instances could not be started with
/// this plan.
Result<PlanView> viewPlan(const model::JobSpec& spec, const HostBindings& bindings);

}  // namespace pop
