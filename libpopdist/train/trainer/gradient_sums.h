// SPDX-License-Identifier: Apache-2.0
// The accumulators of one replica: what the gradients of its micro-batches become.
#pragma once

#include <optional>

#include "common/base/status.h"
#include "popdist/trainer.hpp"

namespace popdist::train {

/// Spec of the accumulators. kInvalidArgument names a type that is none for gradients.
pop::Result<Spec> accumulatorsOf(const Spec& parameters, const GradientAccumulation& accumulation);

class GradientSums {
 public:
  GradientSums(Context& context, const Spec& parameters, const GradientAccumulation& accumulation,
               FlatTensors& sums);

  /// Gradients are final when the last micro-batch has added them.
  bool direct() const { return !gradients_; }

  /// The tensors to which micro-batch `index` adds its gradients.
  TensorRefs begin(int index);
  /// It has added them.
  void end(int index);

 private:
  GradientAccumulation accumulation_;
  FlatTensors* sums_;
  std::optional<FlatTensors> gradients_;  // one micro-batch's; none if they are added to the sums directly
};

}  // namespace popdist::train
