// SPDX-License-Identifier: Apache-2.0
// Results of a number of micro-batches.
#include <algorithm>

#include "common/base/text.h"
#include "popdist/error.hpp"
#include "popdist/trainer.hpp"

namespace popdist::train {

double Progress::sum(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return sums[static_cast<std::size_t>(found - names.begin())];
  throw popdist_error(ErrorCode::kNotFound,
                      "there is no metric " + pop::inQuotes(name) + "; there " +
                          (names.empty() ? "are none" : "is " + pop::join(names, ", ")));
}

double Progress::meanOfMicroBatches(std::string_view name) const {
  return sum(name) / static_cast<double>(micro_batches);
}

}  // namespace popdist::train
