// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <tuple>

namespace popdist::shared {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Part = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

std::vector<Part> runsOf(std::vector<std::size_t> ends, std::size_t offset, std::size_t bytes) {
  std::vector<Part> runs;
  forEachRun(ends, offset, bytes,
             [&](std::size_t piece, std::size_t inside, std::size_t done, std::size_t run) {
               runs.emplace_back(piece, inside, done, run);
             });
  return runs;
}

TEST(ForEachRun, CutsWhereAPieceEnds) {
  EXPECT_THAT(runsOf({4, 10, 11}, 0, 11), ElementsAre(Part{0, 0, 0, 4}, Part{1, 0, 4, 6}, Part{2, 0, 10, 1}));
  EXPECT_THAT(runsOf({4, 10, 11}, 3, 5), ElementsAre(Part{0, 3, 0, 1}, Part{1, 0, 1, 4}));
  EXPECT_THAT(runsOf({4, 10, 11}, 4, 6), ElementsAre(Part{1, 0, 0, 6}));
  EXPECT_THAT(runsOf({4, 10, 11}, 10, 1), ElementsAre(Part{2, 0, 0, 1}));
  EXPECT_THAT(runsOf({4, 10, 11}, 11, 0), IsEmpty());
}

// What the host's segment would hold, of two ranks.
struct Memory {
  alignas(64) std::array<std::uint64_t, 16> table{}, other_table{};
  std::array<std::byte, 20> data{};

  Pieces listed(std::vector<std::pair<std::size_t, std::size_t>> offsets_and_bytes, void* where) {
    Pieces pieces;
    for (const auto& [offset, bytes] : offsets_and_bytes) pieces.add(data.data() + offset, bytes);
    pieces.list(where);
    return pieces;
  }
  std::string read(ListedPieces& listed, int rank, std::array<std::uint64_t, 16>& whose,
                   std::size_t room = sizeof(table), std::size_t bytes = 3) {
    return listed.read(rank, reinterpret_cast<std::byte*>(whose.data()), room, bytes);
  }
};

TEST(Pieces, AreCopiedIntoOnePieceAndBack) {
  Memory memory;
  for (std::size_t i = 0; i < memory.data.size(); ++i) memory.data[i] = static_cast<std::byte>(i);
  const Pieces pieces = memory.listed({{10, 2}, {3, 1}}, memory.table.data());
  std::array<std::byte, 3> whole{};
  pieces.copyTo(whole.data());
  EXPECT_THAT(whole, ElementsAre(std::byte{10}, std::byte{11}, std::byte{3}));
  whole = {std::byte{100}, std::byte{101}, std::byte{102}};
  pieces.copyFrom(whole.data());
  EXPECT_EQ(memory.data[10], std::byte{100});
  EXPECT_EQ(memory.data[11], std::byte{101});
  EXPECT_EQ(memory.data[3], std::byte{102});
}

TEST(ListedPieces, AreWhereTheirTablesSay) {
  Memory memory;
  memory.listed({{10, 2}, {3, 1}}, memory.table.data());
  memory.listed({{0, 2}, {19, 1}}, memory.other_table.data());
  ListedPieces listed;
  EXPECT_TRUE(listed.empty());
  EXPECT_EQ(memory.read(listed, 1, memory.table), "");
  EXPECT_EQ(memory.read(listed, 3, memory.other_table), "");
  EXPECT_FALSE(listed.empty());
  EXPECT_EQ(listed.data(1, 0), memory.data.data() + 10);
  EXPECT_EQ(listed.data(1, 1), memory.data.data() + 3);
  EXPECT_EQ(listed.data(3, 1), memory.data.data() + 19);
  for (const int in_one_piece : {0, 2, 4}) EXPECT_EQ(listed.data(in_one_piece, 0), nullptr);
  listed.clear();
  EXPECT_TRUE(listed.empty());
  EXPECT_EQ(listed.data(1, 0), nullptr);
}

TEST(ListedPieces, MustAgree) {
  Memory memory;
  memory.listed({{10, 2}, {3, 1}}, memory.table.data());
  ListedPieces listed;
  EXPECT_EQ(memory.read(listed, 0, memory.table), "");
  memory.listed({{0, 2}, {5, 1}, {6, 1}}, memory.other_table.data());
  EXPECT_THAT(memory.read(listed, 1, memory.other_table),
              AllOf(HasSubstr("3 non-empty tensors"), HasSubstr("other ranks 2")));
  memory.listed({{0, 1}, {5, 2}}, memory.other_table.data());
  EXPECT_THAT(memory.read(listed, 1, memory.other_table),
              AllOf(HasSubstr("tensor 0"), HasSubstr("ends at byte 1,"), HasSubstr("ranks at byte 2")));
}

TEST(ListedPieces, MakeUpTheVector) {
  Memory memory;
  memory.listed({{10, 2}, {3, 1}}, memory.table.data());
  for (const std::size_t bytes : {2U, 4U}) {
    ListedPieces listed;
    EXPECT_THAT(memory.read(listed, 0, memory.table, sizeof(memory.table), bytes), HasSubstr("add up"));
  }
  memory.table[1] = 5;  // where the first one ends, behind the second one
  ListedPieces listed;
  EXPECT_THAT(memory.read(listed, 0, memory.table), HasSubstr("add up"));
}

TEST(ListedPieces, AreNotReadPastTheirSegment) {
  Memory memory;
  memory.listed({{10, 2}, {3, 1}}, memory.table.data());
  ListedPieces listed;
  EXPECT_NE(memory.read(listed, 0, memory.table, 4 * sizeof(std::uint64_t)), "");
  memory.table[0] = ~std::uint64_t{0};
  EXPECT_NE(memory.read(listed, 0, memory.table), "");
}

}  // namespace
}  // namespace popdist::shared
