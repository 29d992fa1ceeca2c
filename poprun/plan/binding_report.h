// SPDX-License-Identifier: Apache-2.0
// --report-bindings: which CPUs and memory each instance gets, and why, in words.
#pragma once

#include <string>
#include <vector>

#include "common/ports/job_report.h"

namespace pop {

/// "cpus 0-3, memory node 1 (reason)", "not bound (reason)".
std::string bindingText(const model::Binding& binding);

/// A line for each instance.
std::string bindingReport(const std::vector<PlacedInstance>& instances);

}  // namespace pop
