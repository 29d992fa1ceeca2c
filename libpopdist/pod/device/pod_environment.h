// SPDX-License-Identifier: Apache-2.0
// Variables of the environment that a Pod reads when it is attached.
#pragma once

#include <string>

namespace popdist::pod {

/// The method of GCL_OPTIONS. Throws popdist_error: kInvalidArgument for an option that there is not.
std::string methodOfEnvironment();

/// POPDIST_EXECUTABLE_CACHE_PATH; empty: it is not set.
std::string cacheDirectory();

}  // namespace popdist::pod
