// SPDX-License-Identifier: Apache-2.0
// A model of several layers without mathematics: gradients are functions of parameters, replica and update.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "popdist/infeed.hpp"
#include "popdist/trainer.hpp"

namespace popdist::train::layers {

/// Shorter than a block of updates, longer, and one that ends with it.
inline Parameters parameters() {
  Parameters parameters;
  parameters.add("first", {10}, uniform(-1, 1));
  parameters.add("second", {4100}, uniform(-1, 1));
  parameters.add("third", {64, 64}, uniform(-1, 1));
  parameters.add("last", {5}, uniform(-1, 1));
  return parameters;
}

/// Each parameter alone.
inline constexpr FusionOptions kBuckets{.bucket_bytes = 4};

inline void addGradient(const MicroBatch& batch, std::size_t parameter) {
  const auto values = batch.parameters.get<float>(parameter);
  const auto gradient = batch.gradients.get<float>(parameter);
  const auto about = static_cast<float>(7 * batch.replica + 3 * batch.index) +
                     static_cast<float>(batch.update) + static_cast<float>(parameter);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    gradient[i] += std::sin(0.1F * static_cast<float>(i) + about) + 0.1F * values[i];
}

/// Backwards, as a backward pass goes, telling of each.
inline void step(const MicroBatch& batch) {
  for (std::size_t parameter = batch.parameters.spec().size(); parameter-- > 0;) {
    addGradient(batch, parameter);
    batch.ready(parameter);
  }
}

inline io::Infeed feed(const Context& context) {
  return io::Infeed(io::Dataset::fromTensors(Tensors(Tensor::full("x", {1}, 1.0F))).repeat(),
                    {.replicas = context.numLocalReplicas()});
}

inline std::string bytesOf(ConstTensorRefs values) {
  std::string all;
  for (std::size_t i = 0; i < values.spec().size(); ++i) {
    const auto bytes = values.bytes(i);
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return all;
}

}  // namespace popdist::train::layers
