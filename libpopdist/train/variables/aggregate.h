// SPDX-License-Identifier: Apache-2.0
// What values of replicas are together.
#pragma once

#include <span>

#include "popdist/variables.hpp"

namespace popdist::train {

/// `all`: those of each replica, one replica after the other, as many as `result` has. Equal values give the
/// same value by each aggregation but the sum, to the bit.
void aggregate(Aggregation aggregation, std::span<const double> all, std::span<double> result);

}  // namespace popdist::train
