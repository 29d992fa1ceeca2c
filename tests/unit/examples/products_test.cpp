// SPDX-License-Identifier: Apache-2.0
// The examples' products beside loops that say what they are.
#include "examples/kernels/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/unit/examples/random_floats.h"

namespace {

TEST(Products, MultiplyTransposedAndAdding) {
  constexpr int kRows = 5;
  constexpr int kColumns = 7;
  constexpr int kInner = 11;
  useInstructionSet(bestIsa());
  const std::vector<float> a = randomFloats(kRows * kInner, 1);
  const std::vector<float> b = randomFloats(kInner * kColumns, 2);
  for (const bool a_is : {false, true}) {
    for (const bool b_is : {false, true}) {
      std::vector<float> c(kRows * kColumns, 1.0F);
      const Product product{.rows = kRows,
                            .columns = kColumns,
                            .inner = kInner,
                            .a = Transposed{a_is},
                            .b = Transposed{b_is},
                            .adds = a_is};
      multiply(product, a.data(), b.data(), c.data());
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t column = 0; column < kColumns; ++column) {
          double expected = a_is ? 1.0 : 0.0;
          for (std::size_t i = 0; i < kInner; ++i)
            expected += static_cast<double>(a[a_is ? i * kRows + row : row * kInner + i]) *
                        b[b_is ? column * kInner + i : i * kColumns + column];
          EXPECT_NEAR(c[row * kColumns + column], expected, 1e-5) << a_is << b_is << row << ' ' << column;
        }
      }
    }
  }
}

struct Case {
  ConvolutionShape shape;
  int batch;
};

struct Sizes {
  explicit Sizes(const Case& of)
      : height(static_cast<std::size_t>(of.shape.height)),
        width(static_cast<std::size_t>(of.shape.width)),
        channels(static_cast<std::size_t>(of.shape.channels)),
        filters(static_cast<std::size_t>(of.shape.filters)),
        padding(static_cast<std::size_t>(of.shape.padding)),
        out_height(static_cast<std::size_t>(of.shape.outputHeight())),
        out_width(static_cast<std::size_t>(of.shape.outputWidth())),
        batch(static_cast<std::size_t>(of.batch)) {}
  std::size_t height, width, channels, filters, padding, out_height, out_width, batch;
};

// Calls function(output, input, weight) with the places of each multiplication.
template <typename Function>
void forEachTerm(const Sizes& of, Function function) {
  for (std::size_t pixel = 0; pixel < of.batch * of.out_height * of.out_width; ++pixel) {
    const std::size_t sample = pixel / (of.out_height * of.out_width);
    const std::size_t y = pixel / of.out_width % of.out_height;
    const std::size_t x = pixel % of.out_width;
    for (std::size_t k = 0; k < 9; ++k) {
      const std::size_t from_y = y + k / 3 - of.padding;  // wraps around above the image
      const std::size_t from_x = x + k % 3 - of.padding;
      if (from_y >= of.height || from_x >= of.width) continue;
      for (std::size_t c = 0; c < of.channels; ++c) {
        for (std::size_t f = 0; f < of.filters; ++f)
          function(pixel * of.filters + f,
                   ((sample * of.height + from_y) * of.width + from_x) * of.channels + c,
                   (k * of.channels + c) * of.filters + f);
      }
    }
  }
}

void expectNear(const std::vector<float>& values, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], 1e-4) << what << ' ' << i;
}

class Convolutions : public ::testing::TestWithParam<Case> {};

TEST_P(Convolutions, AndTheirGradientsAreSumsOfProducts) {
  useInstructionSet(bestIsa());
  const Sizes of(GetParam());
  const int batch = GetParam().batch;
  const std::vector<float> input = randomFloats(of.batch * of.height * of.width * of.channels, 1);
  const std::vector<float> weights = randomFloats(9 * of.channels * of.filters, 2);
  const std::vector<float> bias = randomFloats(of.filters, 3);
  const std::vector<float> d_output = randomFloats(of.batch * of.out_height * of.out_width * of.filters, 4);
  Convolution convolution(GetParam().shape);

  std::vector<float> output(d_output.size());
  std::vector<float> d_input(input.size());
  std::vector<float> d_weights(weights.size(), 2.0F);
  std::vector<float> d_bias(bias.size(), 3.0F);
  convolution.forward(batch, input.data(), weights.data(), bias.data(), output.data());
  convolution.backwardData(batch, d_output.data(), weights.data(), d_input.data());
  convolution.backwardWeights(batch, input.data(), d_output.data(), d_weights.data(), d_bias.data());

  std::vector<double> sums(output.size());
  std::vector<double> to_input(input.size());
  std::vector<double> to_weights(weights.size(), 2.0);
  std::vector<double> to_bias(bias.size(), 3.0);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = bias[i % of.filters];
    to_bias[i % of.filters] += d_output[i];
  }
  forEachTerm(of, [&](std::size_t out, std::size_t in, std::size_t weight) {
    sums[out] += static_cast<double>(input[in]) * weights[weight];
    to_input[in] += static_cast<double>(d_output[out]) * weights[weight];
    to_weights[weight] += static_cast<double>(d_output[out]) * input[in];
  });
  expectNear(output, sums, "output");
  expectNear(d_input, to_input, "input's gradient");
  expectNear(d_weights, to_weights, "weights' gradient");
  expectNear(d_bias, to_bias, "bias's gradient");
}

INSTANTIATE_TEST_SUITE_P(
    Products, Convolutions,
    ::testing::Values(Case{{.height = 10, .width = 12, .channels = 1, .filters = 8, .padding = 0}, 3},
                      Case{{.height = 10, .width = 12, .channels = 1, .filters = 16}, 2},
                      Case{{.height = 8, .width = 6, .channels = 16, .filters = 32}, 2},
                      Case{{.height = 6, .width = 6, .channels = 3, .filters = 5}, 1}));

TEST(Products, OfOneSampleDoNotDependOnTheOthers) {
  useInstructionSet(bestIsa());
  const ConvolutionShape shape{.height = 14, .width = 14, .channels = 16, .filters = 32};
  const std::vector<float> input = randomFloats(4 * 14 * 14 * 16, 1);
  const std::vector<float> weights = randomFloats(9 * 16 * 32, 2);
  const std::vector<float> bias = randomFloats(32, 3);
  Convolution convolution(shape);
  std::vector<float> together(4 * 14 * 14 * 32);
  std::vector<float> alone(14 * 14 * 32);
  convolution.forward(4, input.data(), weights.data(), bias.data(), together.data());
  for (std::size_t sample = 0; sample < 4; ++sample) {
    convolution.forward(1, input.data() + sample * 14 * 14 * 16, weights.data(), bias.data(), alone.data());
    const auto begin = together.begin() + static_cast<std::ptrdiff_t>(sample * alone.size());
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), begin)) << sample;
  }
}

TEST(Products, RefuseASecondInstructionSet) {
  useInstructionSet(bestIsa());
  useInstructionSet(bestIsa());
  if (bestIsa() == Isa::kBaseline) GTEST_SKIP() << "this CPU has only one";
  EXPECT_THROW(useInstructionSet(Isa::kBaseline), std::runtime_error);
}

}  // namespace
