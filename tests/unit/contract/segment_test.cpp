// SPDX-License-Identifier: Apache-2.0
#include "common/contract/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "common/sys/memfd.h"

namespace pop::contract {
namespace {

// As much of a segment as lies before its pieces.
class Board {
 public:
  explicit Board(std::uint32_t instances)
      : bytes_(boardBytesFor(instances)),
        memory_(sys::mapShared(sys::createMemfd("board", bytes_).value().get(), bytes_).value()),
        header_(initialiseSegment(memory_.data(), segmentBytesFor(instances), instances)) {}

  SegmentHeader* header() { return header_; }
  Obituary* obituaries() { return obituariesOf(header_); }
  std::uint32_t count() const { return header_->obituary_count.load(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  sys::Mapping memory_;
  SegmentHeader* header_;
};

TEST(Segment, StartsWithItsMagicAndTheNumberOfInstances) {
  Board board(5);
  EXPECT_EQ(board.header()->magic, kSegmentMagic);
  EXPECT_EQ(board.header()->instances, 5U);
  EXPECT_EQ(board.header()->bytes, segmentBytesFor(5));
  EXPECT_EQ(board.count(), 0U);
}

TEST(TakePiece, GivesPagesBehindTheBoardThatDoNotOverlap) {
  Board board(300);
  std::size_t end = board.bytes();
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, std::size_t{100'000}}) {
    const std::size_t offset = takePiece(board.header(), bytes);
    EXPECT_EQ(offset % kPieceAlignmentBytes, 0U);
    EXPECT_EQ(offset, end) << "no page is lost";
    end = offset + alignPiece(bytes);
  }
}

TEST(TakePiece, GivesTheSegmentsLastByteAndThenNothing) {
  Board board(1);
  const std::size_t rest = segmentBytesFor(1) - board.bytes();
  EXPECT_EQ(takePiece(board.header(), rest), board.bytes());
  EXPECT_EQ(takePiece(board.header(), 1), 0U);
  EXPECT_EQ(takePiece(board.header(), kPieceAlignmentBytes), 0U);
}

TEST(TakePiece, RefusesWhatCannotFit) {
  Board board(1);
  EXPECT_EQ(takePiece(board.header(), segmentBytesFor(1)), 0U) << "the header is in the way";
}

TEST(TakePiece, ARefusalLeavesRoomForASmallerPiece) {
  Board board(1);
  ASSERT_EQ(takePiece(board.header(), segmentBytesFor(1)), 0U);
  EXPECT_NE(takePiece(board.header(), kPieceAlignmentBytes), 0U) << "nothing has been taken yet";
}

TEST(TakePiece, GivesEveryThreadItsOwn) {
  constexpr int kThreads = 4;
  constexpr int kPieces = 200;
  Board board(1);
  std::vector<std::vector<std::size_t>> taken(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&board, &mine] {
      for (int piece = 0; piece < kPieces; ++piece) mine.push_back(takePiece(board.header(), 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::size_t> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.back(), board.bytes() + (kThreads * kPieces - 1) * kPieceAlignmentBytes);
}

TEST(Obituaries, AreReadInTheOrderInWhichTheyWerePublished) {
  Board board(3);
  publishObituary(board.header(), 0, 2, false, "instance 2 (pid 712) was killed by SIGKILL");
  EXPECT_EQ(board.count(), 1U);
  publishObituary(board.header(), 1, 0, true, "instance 0 exited with code 0");
  ASSERT_EQ(board.count(), 2U);
  EXPECT_EQ(board.obituaries()[0].instance, 2);
  EXPECT_EQ(board.obituaries()[0].clean, 0U);
  EXPECT_STREQ(board.obituaries()[0].text, "instance 2 (pid 712) was killed by SIGKILL");
  EXPECT_EQ(board.obituaries()[1].instance, 0);
  EXPECT_EQ(board.obituaries()[1].clean, 1U);
}

TEST(Obituaries, CutLongTextsAndEndThemWithAZero) {
  Board board(2);
  constexpr std::size_t kMost = sizeof(Obituary::text) - 1;
  publishObituary(board.header(), 0, 0, false, std::string(kMost, 'a'));
  publishObituary(board.header(), 1, 1, false, std::string(500, 'b'));
  EXPECT_EQ(std::string(board.obituaries()[0].text), std::string(kMost, 'a'));
  EXPECT_EQ(std::string(board.obituaries()[1].text), std::string(kMost, 'b'));
}

TEST(Obituaries, HaveASlotForEveryInstance) {
  constexpr std::uint32_t kInstances = 100;
  Board board(kInstances);
  for (std::uint32_t index = 0; index < kInstances; ++index) {
    publishObituary(board.header(), index, static_cast<int>(index), true, std::string(200, 'x'));
  }
  EXPECT_EQ(board.count(), kInstances);
  const auto* end = reinterpret_cast<const std::byte*>(board.obituaries() + kInstances);
  const auto* start = reinterpret_cast<const std::byte*>(board.header());
  EXPECT_LE(static_cast<std::size_t>(end - start), takePiece(board.header(), 1))
      << "the first piece lies behind";
}

TEST(Obituaries, AreWholeForAnotherThreadOnceTheyAreCounted) {
  constexpr int kInstances = 100;
  Board board(kInstances);
  std::thread agent([&board] {
    for (int instance = 0; instance < kInstances; ++instance) {
      publishObituary(board.header(), static_cast<std::uint32_t>(instance), instance, true,
                      std::to_string(instance));
    }
  });
  for (std::uint32_t seen = 0; seen < kInstances;) {
    const std::uint32_t count = board.header()->obituary_count.load(std::memory_order_acquire);
    for (; seen < count; ++seen) {
      EXPECT_EQ(board.obituaries()[seen].instance, static_cast<int>(seen));
      EXPECT_EQ(board.obituaries()[seen].text, std::to_string(seen));
    }
    std::this_thread::yield();
  }
  agent.join();
}

}  // namespace
}  // namespace pop::contract
