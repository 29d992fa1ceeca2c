// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "popdist/parameters.hpp"

namespace popdist::train {

/// Sets all elements of a parameter at `data`.
void fill(const TensorSpec& parameter, std::byte* data, const InitialValues& initial, std::uint64_t seed);

}  // namespace popdist::train
