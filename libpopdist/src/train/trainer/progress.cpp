// SPDX-License-Identifier: Apache-2.0
// What came of a number of micro-batches.
#include <algorithm>

#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"
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
  const double all = sum(name);
  if (micro_batches == 0)
    throwIfError(pop::failedPrecondition("there were no micro-batches, so " + pop::inQuotes(name) +
                                         " has no mean: ask for an update or more"),
                 "Progress.meanOfMicroBatches");
  return all / static_cast<double>(micro_batches);
}

}  // namespace popdist::train
