// SPDX-License-Identifier: Apache-2.0
// What each host of a job gives its instances, once all hosts have described themselves.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/ports/agent_port.h"
#include "popdistd/controller/instance_env.h"

namespace pop {

/// By host: `topologies[h]` is that of `spec.hosts[h]`. The first host on which the policy cannot be carried
/// out is the error.
Result<std::vector<model::Bindings>> bindHosts(const model::JobSpec& spec, const InstanceEnvs& envs,
                                               const std::vector<model::HostTopology>& topologies);

/// The warnings of all hosts. Hosts are often alike: what is true of many is said once.
std::vector<std::string> warningsOf(const model::JobSpec& spec, const std::vector<model::Bindings>& bindings);

}  // namespace pop
