// SPDX-License-Identifier: Apache-2.0
// Tensors: what they hold, and what is said of names, types and shapes that do not fit.
#include "popdist/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/unit/libpopdist/data/datasets.h"

namespace popdist {
namespace {

using io::testing::expectError;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(Tensor, BeginsAsZerosAtAMultipleOf64Bytes) {
  const Tensor tensor({"x", Type::kInt16, {3, 5}});
  EXPECT_THAT(tensor.as<std::int16_t>(), Each(0));
  EXPECT_EQ(tensor.as<std::int16_t>().size(), 15U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
}

TEST(Tensor, ScalarHasOneElementAndADimensionOfZeroNone) {
  EXPECT_EQ(Tensor::full("x", {}, 2.5).as<double>()[0], 2.5);
  EXPECT_EQ(Tensor::full("x", {4, 0}, 2.5).bytes().size(), 0U);
}

TEST(Tensor, HoldsACopyOfWhatItIsGiven) {
  std::vector<std::int32_t> values{1, 2, 3, 4};
  const Tensor tensor = Tensor::of("x", {2, 2}, values);
  values[0] = 9;
  EXPECT_THAT(tensor.as<std::int32_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(tensor.clone().as<std::int32_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  const auto invalid = ErrorCode::kInvalidArgument;
  expectError([] { Tensor::of<float>("x", {3}, {1, 2}); }, invalid, "x: float [3] has 3 elements, got 2");
  expectError([] { Tensor({"", Type::kFloat, {2}}); }, invalid, "no name");
  expectError(
      [] {
        Tensor({"x", Type::kFloat, {1U << 31U, 1U << 31U, 4}});
      },
      invalid, "exceeds the address space");
#ifndef __SANITIZE_ADDRESS__  // its allocator ends the program
  expectError(
      [] {
        Tensor({"x", Type::kUint8, {std::size_t{1} << 60U}});
      },
      ErrorCode::kResourceExhausted, "no memory");
#endif
  Tensor tensor = Tensor::full("x", {2}, 1.0F);
  expectError([&] { tensor.as<double>(); }, invalid, "the tensor x: float [2] has no elements of double");
}

TEST(Tensors, AreFoundByNameAndPosition) {
  Tensors tensors(Tensor::full("a", {2}, 1), Tensor::full("b", {}, 2.0F));
  EXPECT_THAT(tensors.get<int>("a"), ElementsAre(1, 1));
  EXPECT_EQ(std::as_const(tensors).get<float>(1)[0], 2.0F);
  tensors["b"].as<float>()[0] = 5;
  EXPECT_EQ(tensors.at(1).as<float>()[0], 5.0F);
  EXPECT_EQ(textOf(tensors.spec()), "a: int32 [2], b: float []");
  EXPECT_EQ(tensors.refs().shape("a"), (Shape{2}));
}

TEST(Tensors, StayWhereTheyAreWhenMoved) {
  Tensors tensors(Tensor::full("a", {2}, 1));
  const std::byte* before = tensors.at(0).bytes().data();
  Tensors moved = std::move(tensors);
  EXPECT_EQ(moved.refs().data()[0], before);
  EXPECT_THAT(moved.get<int>("a"), ElementsAre(1, 1));
}

TEST(Tensors, RefuseOneNameTwiceAndNamesThatAreNotThere) {
  expectError([] { Tensors(Tensor::full("a", {}, 1), Tensor::full("a", {}, 2)); },
              ErrorCode::kInvalidArgument, "two tensors have the name 'a'");
  const Tensors tensors(Tensor::full("a", {}, 1));
  expectError([&] { tensors["b"]; }, ErrorCode::kNotFound, "there is no tensor 'b'; there is a: int32 []");
  expectError([&] { tensors.get<int>(3); }, ErrorCode::kOutOfRange, "position 3");
  expectError([] { Tensors()["b"]; }, ErrorCode::kNotFound, "there are none");
}

}  // namespace
}  // namespace popdist
