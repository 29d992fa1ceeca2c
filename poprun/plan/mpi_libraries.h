// SPDX-License-Identifier: Apache-2.0
// Which MPI a program is linked with, and whether poprun makes one world of its instances.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/contract/env_family.h"

namespace pop {

/// A warning that the instances of `program` may start as worlds of their own: it needs the shared libraries
/// `needed`, and instances get the variables of `families`. Empty: it has no MPI, or one that poprun serves.
std::string mpiWarning(std::string_view program, const std::vector<std::string>& needed,
                       const contract::EnvFamilies& families);

}  // namespace pop
