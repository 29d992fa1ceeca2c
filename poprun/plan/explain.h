// SPDX-License-Identifier: Apache-2.0
// --dry-run: the whole plan of a job, for people and for programs (docs/reference/dry_run.md), without
// starting anything.
#pragma once

#include <string>

#include "poprun/plan/plan_view.h"

namespace pop {

Result<std::string> explainPlan(const model::JobSpec& spec, const HostBindings& bindings = {});
Result<std::string> explainPlanJson(const model::JobSpec& spec, const HostBindings& bindings = {});

}  // namespace pop
