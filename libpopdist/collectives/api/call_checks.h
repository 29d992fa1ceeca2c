// SPDX-License-Identifier: Apache-2.0
// Checks arguments that are wrong whatever the other ranks do.
#pragma once

#include <string>

#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::api {

/// Returns what is wrong with a call of `rank` among `size` ranks; "": nothing.
std::string whatIsWrongWith(const group::CollectiveCall& call, int rank, int size);

}  // namespace popdist::api
