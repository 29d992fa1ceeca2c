// SPDX-License-Identifier: Apache-2.0
// What a caller can be told at once: arguments that are wrong whatever the other ranks do.
#pragma once

#include <string>

#include "libpopdist/src/group/collective_call.h"

namespace popdist::api {

/// Of a call of this `rank` among `size`; "": nothing.
std::string whatIsWrongWith(const group::CollectiveCall& call, int rank, int size);

}  // namespace popdist::api
