// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/status.h"
#include "popdist/parameters.hpp"

namespace popdist::train {

/// kInvalidArgument: numbers that the parameter's type cannot hold.
pop::Status checkInitial(const TensorSpec& parameter, const InitialValues& initial);

/// Sets all elements of a parameter at `data`.
void fill(const TensorSpec& parameter, std::byte* data, const InitialValues& initial, std::uint64_t seed);

}  // namespace popdist::train
