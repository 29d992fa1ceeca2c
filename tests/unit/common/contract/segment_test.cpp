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

// The part of a segment before its pieces.
class ControlBlock {
 public:
  explicit ControlBlock(std::uint32_t instances)
      : bytes_(controlBlockBytesFor(instances)),
        memory_(sys::mapShared(sys::createMemfd("control block", bytes_).value().get(), bytes_).value()),
        header_(initialiseSegment(memory_.data(), segmentBytesFor(instances), instances)) {}

  SegmentHeader* header() { return header_; }
  EndNotice* end_notices() { return endNoticesOf(header_); }
  std::uint32_t count() const { return header_->end_notice_count.load(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  sys::Mapping memory_;
  SegmentHeader* header_;
};

TEST(Segment, StartsWithItsMagicAndTheNumberOfInstances) {
  ControlBlock control_block(5);
  EXPECT_EQ(control_block.header()->magic, kSegmentMagic);
  EXPECT_EQ(control_block.header()->instances, 5U);
  EXPECT_EQ(control_block.header()->bytes, segmentBytesFor(5));
  EXPECT_EQ(control_block.count(), 0U);
}

TEST(TakePiece, GivesPagesBehindTheBoardThatDoNotOverlap) {
  ControlBlock control_block(300);
  std::size_t end = control_block.bytes();
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, std::size_t{100'000}}) {
    const std::size_t offset = takePiece(control_block.header(), bytes);
    EXPECT_EQ(offset % kPieceAlignmentBytes, 0U);
    EXPECT_EQ(offset, end) << "no page is lost";
    end = offset + alignPiece(bytes);
  }
}

TEST(TakePiece, GivesTheSegmentsLastByteAndThenNothing) {
  ControlBlock control_block(1);
  const std::size_t rest = segmentBytesFor(1) - control_block.bytes();
  EXPECT_EQ(takePiece(control_block.header(), rest), control_block.bytes());
  EXPECT_EQ(takePiece(control_block.header(), 1), 0U);
  EXPECT_EQ(takePiece(control_block.header(), kPieceAlignmentBytes), 0U);
}

TEST(TakePiece, RefusesWhatCannotFit) {
  ControlBlock control_block(1);
  EXPECT_EQ(takePiece(control_block.header(), segmentBytesFor(1)), 0U) << "the header is in the way";
}

TEST(TakePiece, ARefusalLeavesRoomForASmallerPiece) {
  ControlBlock control_block(1);
  ASSERT_EQ(takePiece(control_block.header(), segmentBytesFor(1)), 0U);
  EXPECT_NE(takePiece(control_block.header(), kPieceAlignmentBytes), 0U) << "nothing has been taken yet";
}

TEST(TakePiece, GivesEveryThreadItsOwn) {
  constexpr int kThreads = 4;
  constexpr int kPieces = 200;
  ControlBlock control_block(1);
  std::vector<std::vector<std::size_t>> taken(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&control_block, &mine] {
      for (int piece = 0; piece < kPieces; ++piece) mine.push_back(takePiece(control_block.header(), 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::size_t> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.back(), control_block.bytes() + (kThreads * kPieces - 1) * kPieceAlignmentBytes);
}

TEST(EndNotices, AreReadInTheOrderInWhichTheyWerePublished) {
  ControlBlock control_block(3);
  publishEndNotice(control_block.header(), 0, 2, false, "instance 2 (pid 712) was killed by SIGKILL");
  EXPECT_EQ(control_block.count(), 1U);
  publishEndNotice(control_block.header(), 1, 0, true, "instance 0 exited with code 0");
  ASSERT_EQ(control_block.count(), 2U);
  EXPECT_EQ(control_block.end_notices()[0].instance, 2);
  EXPECT_EQ(control_block.end_notices()[0].clean, 0U);
  EXPECT_STREQ(control_block.end_notices()[0].text, "instance 2 (pid 712) was killed by SIGKILL");
  EXPECT_EQ(control_block.end_notices()[1].instance, 0);
  EXPECT_EQ(control_block.end_notices()[1].clean, 1U);
}

TEST(EndNotices, CutLongTextsAndEndThemWithAZero) {
  ControlBlock control_block(2);
  constexpr std::size_t kMost = sizeof(EndNotice::text) - 1;
  publishEndNotice(control_block.header(), 0, 0, false, std::string(kMost, 'a'));
  publishEndNotice(control_block.header(), 1, 1, false, std::string(500, 'b'));
  EXPECT_EQ(std::string(control_block.end_notices()[0].text), std::string(kMost, 'a'));
  EXPECT_EQ(std::string(control_block.end_notices()[1].text), std::string(kMost, 'b'));
}

TEST(EndNotices, HaveASlotForEveryInstance) {
  constexpr std::uint32_t kInstances = 100;
  ControlBlock control_block(kInstances);
  for (std::uint32_t index = 0; index < kInstances; ++index) {
    publishEndNotice(control_block.header(), index, static_cast<int>(index), true, std::string(200, 'x'));
  }
  EXPECT_EQ(control_block.count(), kInstances);
  const auto* end = reinterpret_cast<const std::byte*>(control_block.end_notices() + kInstances);
  const auto* start = reinterpret_cast<const std::byte*>(control_block.header());
  EXPECT_LE(static_cast<std::size_t>(end - start), takePiece(control_block.header(), 1))
      << "the first piece lies behind";
}

TEST(EndNotices, AreWholeForAnotherThreadOnceTheyAreCounted) {
  constexpr int kInstances = 100;
  ControlBlock control_block(kInstances);
  std::thread agent([&control_block] {
    for (int instance = 0; instance < kInstances; ++instance) {
      publishEndNotice(control_block.header(), static_cast<std::uint32_t>(instance), instance, true,
                       std::to_string(instance));
    }
  });
  for (std::uint32_t seen = 0; seen < kInstances;) {
    const std::uint32_t count = control_block.header()->end_notice_count.load(std::memory_order_acquire);
    for (; seen < count; ++seen) {
      EXPECT_EQ(control_block.end_notices()[seen].instance, static_cast<int>(seen));
      EXPECT_EQ(control_block.end_notices()[seen].text, std::to_string(seen));
    }
    std::this_thread::yield();
  }
  agent.join();
}

}  // namespace
}  // namespace pop::contract
