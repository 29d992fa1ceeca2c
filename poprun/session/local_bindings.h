// SPDX-License-Identifier: Apache-2.0
// The CPUs and memory to which the instances on this host would be bound, for a plan that is only shown.
#pragma once

#include <string>

#include "poprun/plan/plan_view.h"

namespace pop {

/// Bindings for the hosts of `spec` that are this host, whose host name is `own_host_name`; nothing for the
/// others.
Result<HostBindings> localBindings(const model::JobSpec& spec, const std::string& own_host_name);

}  // namespace pop
