// SPDX-License-Identifier: Apache-2.0
// The CPUs and memory that each host of a job gives its instances, computed when all hosts have described
// themselves.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/ports/agent_port.h"
#include "controller/core/instance_env.h"

namespace pop {

/// Bindings by host; `topologies[h]` is the topology of `spec.hosts[h]`. Fails at the first host on which the
/// policy cannot be carried out.
Result<std::vector<model::Bindings>> bindHosts(const model::JobSpec& spec, const InstanceEnvs& envs,
                                               const std::vector<model::HostTopology>& topologies);

/// The warnings of all hosts. Hosts are often alike, so a warning that applies to many is given once.
std::vector<std::string> warningsOf(const model::JobSpec& spec, const std::vector<model::Bindings>& bindings);

}  // namespace pop
