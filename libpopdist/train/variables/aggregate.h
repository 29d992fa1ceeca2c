// SPDX-License-Identifier: Apache-2.0
// Aggregates of values of replicas.
#pragma once

#include <span>

#include "popdist/variables.hpp"

namespace popdist::train {

/// `all`: those of each replica, one replica after the other, as many as `result` has. Equal values give the
/// same value by each aggregation but the sum, to the bit.
void aggregate(Aggregation aggregation, std::span<const double> all, std::span<double> result);

}  // namespace popdist::train
