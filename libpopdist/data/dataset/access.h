// SPDX-License-Identifier: Apache-2.0
// Access to a Dataset's contents for the rest of data.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "libpopdist/data/dataset/index_steps.h"
#include "libpopdist/data/dataset/node.h"
#include "popdist/dataset.hpp"

namespace popdist::io {

inline constexpr int kPrefetchDepthMax = 255;  // the device's own limit

inline pop::Status checkPrefetchDepth(int depth) {
  if (depth >= 1 && depth <= kPrefetchDepthMax) return {};
  return pop::invalidArgument("the prefetch depth is " + std::to_string(depth) + ", expected 1 to " +
                              std::to_string(kPrefetchDepthMax));
}

struct DatasetAccess {
  /// Consumes it. Throws popdist_error kFailedPrecondition, naming `function`, for one that is consumed.
  static std::unique_ptr<const Node> take(Dataset& dataset, const char* function);
  static const Node& look(const Dataset& dataset, const char* function);
  static int prefetchDepth(const Dataset& dataset);
  static Dataset make(NodeResult root, const char* function, int prefetch_depth);
};

}  // namespace popdist::io
