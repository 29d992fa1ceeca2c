// SPDX-License-Identifier: Apache-2.0
// A job that is not started, as --dry-run shows it in words and as JSON: who runs where, told what, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/binding.h"
#include "common/model/job_spec.h"
#include "common/model/placement.h"
#include "common/ports/agent_port.h"

namespace pop {

/// What each host's instances get, by host; nothing for a host whose topology is not known here.
using HostBindings = std::vector<std::optional<model::Bindings>>;

/// Stands for TF_CONFIG's cluster, which is long and the same for all.
inline constexpr const char* kTfClusterPlaceholder = "<tf cluster>";

struct PlannedInstance {
  model::InstancePlacement placement;
  int program = 0;
  std::optional<model::Binding> binding;        ///< nothing: decided on the host
  std::vector<contract::Variable> environment;  ///< that other instances have not, or not with this value
};

struct PlanView {
  std::vector<model::InstancePlacement> placement;
  std::vector<PlannedInstance> instances;
  std::vector<contract::Variable> environment;  ///< of all instances alike
  std::string tf_cluster;                       ///< what kTfClusterPlaceholder stands for; empty: not wanted
  std::vector<std::string> reasons;             ///< of what was decided, a sentence each
  std::vector<std::string> warnings;
};

/// `spec` is free of mistakes. Values that only a start decides (ports, addresses, job id, …) are named in
/// <angle brackets>, never invented. Fails when the instances could not be started like this.
Result<PlanView> viewPlan(const model::JobSpec& spec, const HostBindings& bindings);

}  // namespace pop
