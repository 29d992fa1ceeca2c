// SPDX-License-Identifier: Apache-2.0
// An instance's values by Context::report.
#pragma once

#include "popdist/popdist.hpp"

namespace popdist::testing {

/// Reports, waits for SIGUSR1, and reports once more just before its end.
int report(Context& context);

}  // namespace popdist::testing
