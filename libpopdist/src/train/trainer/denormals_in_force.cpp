// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/trainer/denormals_in_force.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "libpopdist/src/tensor/error_edge.h"
#include "popdist/communicator.hpp"

namespace popdist::train {

bool denormalsAreFlushed() {
  const volatile float least = std::numeric_limits<float>::min();
  return least / 2 == 0;
}

const char* denormalsInForce() {
  return denormalsAreFlushed() ? "flushed" : "kept";
}

void requireSameDenormals(Context& context, const char* function) {
  std::vector<int> flushed(static_cast<std::size_t>(context.numInstances()));
  flushed[static_cast<std::size_t>(context.instanceIndex())] = denormalsAreFlushed() ? 1 : 0;
  context.world().allReduce(std::span(flushed), Operator::kSum);
  const auto other = std::find(flushed.begin(), flushed.end(), 1 - flushed.front());
  if (other == flushed.end()) return;
  const std::string instance = "instance " + std::to_string(other - flushed.begin());
  throwIfError(pop::failedPrecondition((flushed.front() != 0
                                            ? "instance 0 flushes denormals and " + instance + " does not"
                                            : instance + " flushes denormals and instance 0 does not") +
                                       ": make a popdist::FlushDenormals on all instances, or on none"),
               function);
}

}  // namespace popdist::train
