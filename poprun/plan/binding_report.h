// SPDX-License-Identifier: Apache-2.0
// --report-bindings: which CPUs and memory each instance gets, and why, in words.
#pragma once

#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/model/placement.h"

namespace pop {

/// "cpus 0-3, memory node 1 (reason)", "not bound (reason)".
std::string bindingText(const model::Binding& binding);

/// A line for each instance. `bindings[h]` are those of the instances on `spec.hosts[h]`, in their order.
std::string bindingReport(const model::JobSpec& spec, const std::vector<model::InstancePlacement>& placement,
                          const std::vector<model::Bindings>& bindings);

}  // namespace pop
