// SPDX-License-Identifier: Apache-2.0
// From what the link says to what the library throws.
#pragma once

#include "libpopdist/src/context/link.h"
#include "popdist/error.hpp"

namespace popdist::context {

/// Throws popdist_error unless `error` is ok.
void throwIfFailed(const LinkError& error, const char* operation);

}  // namespace popdist::context
