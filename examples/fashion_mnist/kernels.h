// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the network. kernels.cpp is compiled once for each instruction set, and one is chosen at
// run time. Plain types only: what is compiled for a newer CPU must not define an inline function that others
// use, too, since the linker keeps one copy for all. For the same reason each has an Eigen of its own
// (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>

struct MlpShape {
  int inputs = 784;
  int hidden = 128;
  int classes = 10;

  std::size_t parameterCount() const;
  /// Floating-point operations of forward and backward pass for one sample (2 for each multiply-add, 3
  /// products).
  double flopsPerSample() const;
};

struct Score {
  double loss_sum = 0;  ///< cross-entropy, summed over the samples
  std::int64_t correct = 0;
};

struct LabelledSamples {
  const float* features;  ///< count x inputs, row by row
  const std::int32_t* labels;
  int count;
};

/// velocity = momentum * velocity + gradient_scale * gradient; weights -= learning_rate * velocity.
struct SgdStep {
  float learning_rate;
  float momentum;
  float gradient_scale;
};

struct MlpKernels {
  Score (*evaluate)(const MlpShape& shape, const float* parameters, const LabelledSamples& samples);

  /// The same, and adds the gradient of loss_sum to `gradient`.
  Score (*accumulateGradient)(const MlpShape& shape, const float* parameters, const LabelledSamples& samples,
                              float* gradient);

  void (*update)(float* weights, float* velocity, const float* gradient, std::size_t count,
                 const SgdStep& step);
};

namespace baseline {
MlpKernels kernels();
}
#ifdef __x86_64__
namespace avx2 {
MlpKernels kernels();
}
namespace avx512 {
MlpKernels kernels();
}
#endif
