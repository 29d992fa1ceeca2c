// SPDX-License-Identifier: Apache-2.0
// The example's kernels. This file has the Eigen of the baseline's (CMakeLists.txt), so it can play another
// CPU.
#include "examples/fashion_mnist/kernels.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <vector>

#include "common/base/random.h"

namespace {

constexpr int kSamples = 16;
constexpr std::size_t kParameters = 784 * 128 + 128 + 128 * 10 + 10;

std::vector<float> randomFloats(std::size_t count, std::uint64_t seed) {
  pop::SplitMix64 random(seed);
  std::vector<float> floats(count);
  for (float& value : floats) value = static_cast<float>(random.next() % 2001) / 10'000.0F - 0.1F;
  return floats;
}

std::vector<float> gradientOf(const MlpKernels& kernels) {
  const std::vector<float> parameters = randomFloats(kParameters, 1);
  const std::vector<float> features = randomFloats(kSamples * 784, 2);
  const std::vector<std::int32_t> labels(kSamples, 3);
  std::vector<float> gradient(kParameters);
  kernels.accumulateGradient(MlpShape{}, parameters.data(),
                             {.features = features.data(), .labels = labels.data(), .count = kSamples},
                             gradient.data());
  return gradient;
}

TEST(ExampleKernels, SumAlikeWhateverCachesTheCpuHas) {
  const std::vector<float> gradient = gradientOf(baseline::kernels());
  Eigen::setCpuCacheSizes(16 * 1024, 128 * 1024, 1024 * 1024);
  const MlpKernels kernels = baseline::kernels();
  EXPECT_EQ(gradientOf(kernels), gradient);
  Eigen::setCpuCacheSizes(16 * 1024, 128 * 1024, 1024 * 1024);
  EXPECT_NE(gradientOf(kernels), gradient) << "the sizes do not matter, so this test says nothing";
}

}  // namespace
