// SPDX-License-Identifier: Apache-2.0
// Declared parameters, the values that they begin with, and the memory that holds them.
#include "popdist/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

Parameters model() {
  Parameters parameters;
  parameters.add("w", {784, 128}, heUniform());
  parameters.add("b", {128}, constant(0.5));
  parameters.add("half", {3}, normal(0, 1), Type::kHalf);
  return parameters;
}

TEST(Parameters, HavePositionsInTheirOrder) {
  Parameters parameters;
  EXPECT_EQ(parameters.add("w", {2, 3}), 0U);
  EXPECT_EQ(parameters.add("b", {3}), 1U);
  EXPECT_EQ(parameters.elements(), 9U);
  EXPECT_EQ(parameters.spec()[1], (TensorSpec{"b", Type::kFloat, {3}}));
}

TEST(Parameters, RefuseWhatIsNone) {
  Parameters parameters = model();
  EXPECT_EQ(errorCodeOf([&] { parameters.add("w", {1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { parameters.add("", {1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { parameters.add("empty", {0, 3}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { parameters.add("count", {1}, constant(0), Type::kInt32); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(parameters.size(), 3U);
}

TEST(Parameters, RefuseInitialValuesThatAreNone) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(errorCodeOf([] { constant(std::nan("")); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { uniform(2, 1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { uniform(0, inf); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([] { normal(0, -1); }), ErrorCode::kInvalidArgument);
  Parameters parameters;
  const auto code = [&](const InitialValues& initial, Type type) {
    return errorCodeOf([&] { parameters.add("w" + std::to_string(parameters.size()), {2}, initial, type); });
  };
  EXPECT_EQ(code(constant(1e300), Type::kFloat), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(constant(70000), Type::kHalf), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(uniform(-1, 70000), Type::kHalf), ErrorCode::kInvalidArgument);
  EXPECT_EQ(parameters.size(), 0U);
  EXPECT_EQ(code(constant(70000), Type::kBfloat16), std::nullopt);
  EXPECT_EQ(code(constant(65504), Type::kHalf), std::nullopt);
  EXPECT_EQ(code(uniform(1, 1), Type::kFloat), std::nullopt);
}

TEST(Parameters, BeginAsTheirInitialValuesSay) {
  const Parameters parameters = model();
  Tensors values(parameters.spec());
  parameters.initialise(values.refs(), 42);
  const auto weights = values.get<float>("w");
  const float limit = std::sqrt(6.0F / 784);
  const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
  EXPECT_GE(*least, -limit);
  EXPECT_LT(*most, limit);
  EXPECT_GT(*most - *least, 1.99F * limit);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(weights.size()), 0, 0.01 * limit);
  EXPECT_THAT(values.get<float>("b"), ::testing::Each(0.5F));
}

TEST(Parameters, NormalOnesHaveTheirMeanAndDeviation) {
  Parameters parameters;
  parameters.add("x", {10'000}, normal(3, 2));
  Tensors values(parameters.spec());
  parameters.initialise(values.refs(), 1);
  double sum = 0;
  double squares = 0;
  for (const float value : values.get<float>(0)) {
    sum += value;
    squares += (value - 3.0) * (value - 3.0);
  }
  EXPECT_NEAR(sum / 10'000, 3, 0.1);
  EXPECT_NEAR(std::sqrt(squares / 10'000), 2, 0.1);
}

TEST(Parameters, DependOnSeedAndNameAlone) {
  Parameters one;
  one.add("first", {5}, normal(0, 1));
  one.add("second", {5}, normal(0, 1));
  Parameters other;
  other.add("second", {5}, normal(0, 1));
  Tensors a(one.spec());
  Tensors b(other.spec());
  one.initialise(a.refs(), 7);
  other.initialise(b.refs(), 7);
  EXPECT_THAT(a.get<float>("second"), ::testing::ElementsAreArray(b.get<float>("second")));
  EXPECT_THAT(a.get<float>("second"), ::testing::Not(::testing::ElementsAreArray(a.get<float>("first"))));
  other.initialise(b.refs(), 8);
  EXPECT_THAT(a.get<float>("second"), ::testing::Not(::testing::ElementsAreArray(b.get<float>("second"))));
}

TEST(Parameters, RefuseToInitialiseOthers) {
  Tensors other(Spec{{"w", Type::kFloat, {784, 127}}});
  EXPECT_EQ(errorCodeOf([&] { model().initialise(other.refs(), 1); }), ErrorCode::kInvalidArgument);
}

TEST(FlatTensors, AreOneArrayOfEachTypeWithZerosBetween) {
  FlatTensors flat(Context::fromEnvironment(), model().spec());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(flat.refs().bytes(i).data()) % 64, 0U);
  const auto runs = flat.runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].type, Type::kFloat);
  EXPECT_EQ(runs[0].elements, 784U * 128 + 128);
  EXPECT_EQ(runs[1].type, Type::kHalf);
  EXPECT_EQ(runs[1].elements, 32U);
  EXPECT_EQ(flat.bytes().size(), runs[0].elements * 4 + runs[1].elements * 2);
  EXPECT_THAT(flat.bytes(), ::testing::Each(std::byte{0}));
}

TEST(FlatTensors, KeepTheirPlacesWhenMoved) {
  FlatTensors flat(Context::fromEnvironment(), model().spec());
  const TensorRefs refs = flat.refs();
  refs.get<float>("b")[0] = 3;
  const FlatTensors moved = std::move(flat);
  EXPECT_EQ(refs.get<float>("b")[0], 3);
  EXPECT_EQ(moved.refs().get<float>("b").data(), refs.get<float>("b").data());
}

}  // namespace
}  // namespace popdist::train
