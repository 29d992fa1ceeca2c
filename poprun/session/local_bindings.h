// SPDX-License-Identifier: Apache-2.0
// What the instances on this host would be bound to, for a plan that is only shown.
#pragma once

#include <string>

#include "poprun/plan/plan_view.h"

namespace pop {

/// Of the hosts of `spec` that are this one, which calls itself `own_host_name`; nothing for the others.
Result<HostBindings> localBindings(const model::JobSpec& spec, const std::string& own_host_name);

}  // namespace pop
