// SPDX-License-Identifier: Apache-2.0
// Accumulated gradients, bit by bit, against one element at a time.
#include "libpopdist/train/trainer/gradient_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

constexpr int kGradients = 5;
constexpr std::size_t kGradientElements = 1000;

float gradient(std::size_t element, int index) {
  return static_cast<float>(std::sin(static_cast<double>(element) * 0.7 + index * 1.9));
}

template <typename Sum, typename Gradient>
void expectBits(Reduction reduction) {
  Context& context = Context::fromEnvironment();
  const Spec parameters{{"w", typeOf<Gradient>(), {kGradientElements}}};
  const GradientAccumulation accumulation{.count = kGradients, .reduction = reduction, .type = typeOf<Sum>()};
  const pop::Result<Spec> spec = accumulatorsOf(parameters, accumulation);
  ASSERT_TRUE(spec.ok());
  FlatTensors sums(context, spec.value());
  GradientSums accumulators(context, parameters, accumulation, sums);
  std::vector<Sum> expected(kGradientElements, Sum(0.0F));
  for (int index = 0; index < kGradients; ++index) {
    const auto gradients = accumulators.begin(index).get<Gradient>(0);
    for (std::size_t i = 0; i < kGradientElements; ++i) {
      gradients[i] = Gradient(static_cast<float>(gradients[i]) + gradient(i, index));
      const auto before = static_cast<float>(expected[i]);
      const auto next = static_cast<float>(Gradient(gradient(i, index)));
      if (reduction == Reduction::kSum) expected[i] = Sum(before + next);
      if (reduction == Reduction::kMean) expected[i] = Sum(before + next * (1.0F / kGradients));
      if (reduction == Reduction::kRunningMean) {
        const auto n = static_cast<float>(index);
        expected[i] = Sum(before * (n / (n + 1)) + next * (1 / (n + 1)));
      }
    }
    accumulators.end(index);
  }
  for (std::size_t i = 0; i < kGradientElements; ++i)
    ASSERT_EQ(static_cast<float>(sums.refs().get<Sum>(0)[i]), static_cast<float>(expected[i])) << i;
}

TEST(GradientSums, AreTheScalarOnesBitByBit) {
  for (const Reduction reduction : {Reduction::kMean, Reduction::kRunningMean}) {
    expectBits<float, float>(reduction);
    expectBits<float, half>(reduction);
    expectBits<half, half>(reduction);
    expectBits<bfloat16, bfloat16>(reduction);
    expectBits<bfloat16, float>(reduction);
  }
  expectBits<float, float>(Reduction::kSum);
  expectBits<float, half>(Reduction::kSum);
}

TEST(GradientSums, BeginAgainWithEachUpdate) {
  Context& context = Context::fromEnvironment();
  const Spec parameters{{"w", Type::kFloat, {2}}};
  FlatTensors sums(context, parameters);
  GradientSums accumulators(context, parameters, {}, sums);
  for (int update = 0; update < 2; ++update) {
    accumulators.begin(0).get<float>(0)[0] += 3;
    accumulators.end(0);
    EXPECT_EQ(sums.refs().get<float>(0)[0], 3);
  }
}

TEST(GradientSums, HaveATypeForEachParameter) {
  const Spec parameters{{"w", Type::kHalf, {2}}, {"norm", Type::kHalf, {2}}};
  const auto by_name = [](const TensorSpec& parameter) {
    return parameter.name == "norm" ? Type::kFloat : parameter.type;
  };
  const pop::Result<Spec> sums =
      accumulatorsOf(parameters, {.type = std::function<Type(const TensorSpec&)>(by_name)});
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(sums.value()[0].type, Type::kHalf);
  EXPECT_EQ(sums.value()[1].type, Type::kFloat);
  EXPECT_FALSE(accumulatorsOf(parameters, {.type = Type::kInt32}).ok());
}

TEST(Reduction, IsNamedInAnyCase) {
  EXPECT_EQ(reductionNamed("SUM"), Reduction::kSum);
  EXPECT_EQ(reductionNamed("mean"), Reduction::kMean);
  EXPECT_EQ(reductionNamed("Running_Mean"), Reduction::kRunningMean);
  EXPECT_EQ(errorCodeOf([] { reductionNamed("max"); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
