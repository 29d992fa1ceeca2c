// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/size_of_update.h"

#include <limits>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::train {

double divisorOf(GradientScale scale, const Strategy& strategy) {
  switch (scale) {
    case GradientScale::kMeanOfReplicas:
      return strategy.numReplicas();
    case GradientScale::kMeanOfWorkers:
      return strategy.numWorkers();
    case GradientScale::kSum:
      break;
  }
  return 1;
}

int samplesPerUpdate(const Strategy& strategy, int count, int micro_batch) {
  const auto micro_batches = static_cast<double>(count) * strategy.numReplicas();
  const double samples = micro_batch * micro_batches;
  if (samples < 0 || samples > std::numeric_limits<int>::max())
    throwIfError(
        pop::invalidArgument("micro_batch is " + std::to_string(micro_batch) + ", of which an update has " +
                             pop::numberText(micro_batches) + ", expected 0 or more, and at most " +
                             std::to_string(std::numeric_limits<int>::max()) + " samples together"),
        "Trainer.samplesPerUpdate");
  return static_cast<int>(samples);
}

}  // namespace popdist::train
