// SPDX-License-Identifier: Apache-2.0
// The same training on several Pods.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "pod/predict/predict.h"

namespace pop::pod::predict {

/// A request. Missing: replicas as many as fit, the rest as the model has it.
struct Wanted {
  std::optional<int> replicas;
  std::optional<std::int64_t> micro_batch;
  std::optional<std::int64_t> gradient_accumulation;
  std::optional<std::int64_t> global_batch;  ///< samples; decides gradient_accumulation
};

/// kInvalidArgument: no replica fits, or global_batch cannot be divided.
Result<Placement> placementOn(const SystemShape& system, const Training& training, const Wanted& wanted);

struct Sweep {
  std::vector<Prediction> predictions;  ///< in the order of the systems
  std::vector<std::string> left_out;    ///< systems that cannot run it, each with the cause
};

/// Predictions for `systems`, of which there is at least one. Errors as placementOn() and predict(), where it
/// can be predicted for none of them: that of the last one.
Result<Sweep> sweep(const Training& training, const std::vector<SystemShape>& systems, const Wanted& wanted,
                    const CommunicationTime& communication);

/// Samples a second of a prediction, had those of the first one grown as the replicas did.
double idealSamplesPerS(const Prediction& first, const Prediction& prediction);

}  // namespace pop::pod::predict
