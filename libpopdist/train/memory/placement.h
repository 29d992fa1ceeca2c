// SPDX-License-Identifier: Apache-2.0
// Places of the classes of a pipeline's tensors, by its options.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/memory_plan.hpp"
#include "popdist/pipeline.hpp"

namespace popdist::train {

struct Placement {
  bool activations = false;   ///< those of micro-batches that wait: in Streaming Memory
  bool accumulators = false;  ///< likewise
  bool sharding = false;      ///< weights are cut over the replicas
  bool weights = false;       ///< their parts: in Streaming Memory
  std::vector<std::string> decisions;
};

/// kInvalidArgument for what is on without remote buffers.
pop::Result<Placement> placementOf(const PipelineOptions& pipeline, const MemoryPlanOptions& memory);

/// The largest availableMemoryProportion of a stage's passes, 0 if none is given. kInvalidArgument for one
/// that is no number from 0 to 1.
pop::Result<double> availableMemoryProportionOf(const PipelineOptions& pipeline, int stage);

}  // namespace popdist::train
