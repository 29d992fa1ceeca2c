// SPDX-License-Identifier: Apache-2.0
// The examples' element-wise loops: what they compute, and that no instruction set computes anything else.
#include "examples/kernels/loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/unit/examples/random_floats.h"

namespace {

std::vector<Isa> isasOfThisCpu() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= bestIsa()) isas.push_back(isa);
  }
  return isas;
}

// All that the loops compute from the same numbers, one after the other.
std::vector<float> resultsOf(const Loops& loops) {
  constexpr std::size_t kRows = 37;
  constexpr std::size_t kWidth = 13;
  std::vector<float> rows = randomFloats(kRows * kWidth, 1);
  const std::vector<float> bias = randomFloats(kWidth, 2);
  std::vector<float> sums = randomFloats(kWidth, 3);
  loops.addBias(rows.data(), bias.data(), kRows, kWidth);
  loops.addColumnSums(sums.data(), rows.data(), kRows, kWidth);
  loops.softmax(rows.data(), kRows, kWidth);
  std::vector<float> all = rows;
  all.insert(all.end(), sums.begin(), sums.end());
  return all;
}

TEST(Loops, GiveTheSameBitsWithEveryInstructionSet) {
  const std::vector<float> expected = resultsOf(loopsOf(Isa::kBaseline));
  for (const Isa isa : isasOfThisCpu()) EXPECT_EQ(resultsOf(loopsOf(isa)), expected) << nameOf(isa);
}

TEST(Loops, SoftmaxIsThatOfTheCLibrary) {
  std::vector<float> row{-200.0F, 3.0F, 3.5F, -7.25F, 0.0F};
  std::vector<double> expected;
  for (const float logit : row) expected.push_back(std::exp(static_cast<double>(logit) - 3.5));
  const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
  loopsOf(bestIsa()).softmax(row.data(), 1, row.size());
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(row[i], expected[i] / sum, 2e-7) << i;
}

TEST(Loops, PoolingPassesTheGradientToTheFirstOfTheLargest) {
  // Two channels; the squares of the first: a winner, none above 0.
  const std::vector<float> input{1, 5, 3, 5, -1, 0, -2, 0,  //
                                 3, 1, 2, 0, -3, 7, -4, 0};
  const PoolShape shape{.batch = 1, .height = 2, .width = 4, .channels = 2};
  for (const Isa isa : isasOfThisCpu()) {
    std::vector<float> output(4);
    std::vector<std::int32_t> winner(4);
    loopsOf(isa).reluMaxPool(shape, input.data(), output.data(), winner.data());
    EXPECT_EQ(output, (std::vector<float>{3, 5, 0, 7}));
    EXPECT_EQ(winner, (std::vector<std::int32_t>{1, 0, 4, 2}));
    std::vector<float> d_input(input.size(), -1.0F);
    const std::vector<float> d_output{10, 20, 30, 40};
    loopsOf(isa).reluMaxPoolBackward(shape, d_output.data(), winner.data(), d_input.data());
    EXPECT_EQ(d_input, (std::vector<float>{0, 20, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0}));
  }
}

TEST(Loops, PoolingIsTheSameForEveryNumberOfChannels) {
  for (const int channels : {1, 3, 8, 16, 32}) {
    const PoolShape shape{.batch = 3, .height = 4, .width = 6, .channels = channels};
    const auto elements = static_cast<std::size_t>(3 * 4 * 6 * channels);
    const std::vector<float> input = randomFloats(elements, 7);
    std::vector<float> output(elements / 4);
    std::vector<std::int32_t> winner(elements / 4);
    loopsOf(bestIsa()).reluMaxPool(shape, input.data(), output.data(), winner.data());
    for (std::size_t i = 0; i < output.size(); ++i) {
      const std::size_t c = i % static_cast<std::size_t>(channels);
      const std::size_t pixel = i / static_cast<std::size_t>(channels);
      float expected = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t at = (pixel / 3 * 2 + k / 2) * 6 + pixel % 3 * 2 + k % 2;
        expected = std::max(expected, input[at * static_cast<std::size_t>(channels) + c]);
      }
      ASSERT_EQ(output[i], expected) << channels << " channels, " << i;
    }
  }
}

}  // namespace
