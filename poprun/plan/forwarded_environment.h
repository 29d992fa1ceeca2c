// SPDX-License-Identifier: Apache-2.0
// Selects the variables of poprun's own environment that are passed to the instances by value, on any host.
#pragma once

#include <string_view>
#include <vector>

#include "common/contract/env_contract.h"

namespace pop {

/// Selects from `own`: PopRun's choice (PATH, LD_LIBRARY_PATH, PYTHONPATH), variables that poprun would
/// otherwise set itself, and the settings of libpopdist and Open MPI (POPDIST_*, OMPI_MCA_*, except those
/// that poprun sets). With `all`: everything except the variables that poprun sets and those of the login
/// session here (HOME, SSH_*, …).
std::vector<contract::Variable> forwardedEnvironment(const std::vector<contract::Variable>& own, bool all);

/// True if a name of -x stands for many: it has * or ?.
bool isPattern(std::string_view name);

/// The variables of `own` whose names match `pattern`, in order, except those that poprun sets and
/// those of the login session here.
std::vector<contract::Variable> matchingEnvironment(const std::vector<contract::Variable>& own,
                                                    std::string_view pattern);

}  // namespace pop
