// SPDX-License-Identifier: Apache-2.0
// Linear least squares of few unknowns.
#pragma once

#include <optional>
#include <vector>

namespace pop::pod::predict {

/// The x with the least sum of squares of (columns * x - right), by Gram and Schmidt. All columns are as long
/// as `right`. Nothing: the columns depend on each other, so that no x is the best.
std::optional<std::vector<double>> leastSquares(std::vector<std::vector<double>> columns,
                                                std::vector<double> right);

}  // namespace pop::pod::predict
