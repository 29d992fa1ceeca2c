// SPDX-License-Identifier: Apache-2.0
// Pieces of tensors: shares of what all hold, and what makes a whole.
#include <algorithm>

#include "libpopdist/train/checkpoint/part.h"
#include "tests/unit/libpopdist/train/checkpoint/states.h"

namespace popdist::train {
namespace {

using testing::expectError;
using testing::stateOf;

std::string error(const std::vector<Part>& parts) {
  return wholeTensors(parts).status().message();
}

TEST(ShareOf, AllSharesAreThePiecesOnceAndAlmostEqual) {
  for (int count = 1; count <= 9; ++count) {
    Tensors state = stateOf(1);
    std::vector<Part> all;
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    for (int index = 0; index < count; ++index) {
      std::size_t bytes = 0;
      for (const Piece& piece : shareOf(Piece::of(state), index, count)) {
        const Tensor& whole = state[piece.name];
        EXPECT_EQ(piece.bytes.data(), whole.bytes().data() + piece.first * sizeOf(piece.type));
        bytes += piece.bytes.size();
        all.push_back(partOf(piece).value());
      }
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
    const auto whole = wholeTensors(all);
    ASSERT_TRUE(whole.ok()) << count << ": " << whole.status().message();
    EXPECT_EQ(whole.value().size(), state.size());
    EXPECT_LE(most - least, 2 * sizeof(double)) << count;
  }
}

TEST(ShareOf, CutsPiecesOfPieces) {
  Tensors state = stateOf(1);
  std::vector<Piece> half = shareOf(Piece::of(state), 1, 2);
  std::size_t bytes = 0;
  for (int index = 0; index < 3; ++index)
    for (const Piece& piece : shareOf(half, index, 3)) bytes += piece.bytes.size();
  std::size_t expected = 0;
  for (const Piece& piece : half) expected += piece.bytes.size();
  EXPECT_EQ(bytes, expected);
}

TEST(ShareOf, RefusesMembersThatAreNotThere) {
  expectError([] { shareOf(std::span<const Piece>(), 2, 2); }, ErrorCode::kInvalidArgument,
              "no member 2 of 2");
  expectError([] { shareOf(std::span<const Piece>(), -1, 2); }, ErrorCode::kInvalidArgument, "no member -1");
  EXPECT_TRUE(shareOf(std::span<const Piece>(), 0, 1).empty());
}

TEST(PartOf, RefusesWhatLiesOutsideOfTheTensor) {
  std::vector<std::byte> memory(16);
  const auto status = [&](std::size_t first, std::size_t bytes, Shape shape) {
    return partOf({"w", Type::kFloat, std::move(shape), first, std::span(memory).first(bytes)}).status();
  };
  EXPECT_TRUE(status(0, 16, {4}).ok());
  EXPECT_TRUE(status(4, 0, {4}).ok());
  EXPECT_THAT(status(1, 16, {4}).message(), ::testing::HasSubstr("over the end of the tensor w: float [4]"));
  EXPECT_THAT(status(SIZE_MAX, 16, {4}).message(), ::testing::HasSubstr("over the end"));
  EXPECT_THAT(status(0, 15, {4}).message(), ::testing::HasSubstr("no whole elements"));
  EXPECT_THAT(status(0, 16, {SIZE_MAX, 2}).message(), ::testing::HasSubstr("address space"));
  EXPECT_THAT(partOf({"", Type::kFloat, {}, 0, {}}).status().message(), ::testing::HasSubstr("no name"));
  EXPECT_THAT(partOf({"\xff", Type::kFloat, {}, 0, {}}).status().message(), ::testing::HasSubstr("UTF-8"));
}

TEST(WholeTensors, NamesGapsOverlapsAndContradictions) {
  const TensorSpec w{"w", Type::kFloat, {10}};
  EXPECT_EQ(wholeTensors({{w, 4, 6}, {w, 0, 4}}).value(), Spec{w});
  EXPECT_EQ(wholeTensors({{w, 0, 0}, {w, 0, 10}, {w, 5, 0}}).value(), Spec{w});
  EXPECT_THAT(error({{w, 0, 4}, {w, 5, 5}}), ::testing::HasSubstr("[4, 5)"));
  EXPECT_THAT(error({{w, 0, 4}}), ::testing::HasSubstr("[4, 10)"));
  EXPECT_THAT(error({{w, 2, 8}}), ::testing::HasSubstr("[0, 2)"));
  EXPECT_THAT(error({{w, 0, 6}, {w, 4, 6}}), ::testing::HasSubstr("[4, 6) of the tensor w"));
  EXPECT_THAT(error({{w, 0, 10}, {w, 0, 10}}), ::testing::HasSubstr("shareOf"));
  EXPECT_THAT(error({{w, 0, 5}, {{"w", Type::kDouble, {10}}, 5, 5}}), ::testing::HasSubstr("double"));
  EXPECT_THAT(error({{w, 0, 0}}), ::testing::HasSubstr("[0, 10)"));
}

}  // namespace
}  // namespace popdist::train
