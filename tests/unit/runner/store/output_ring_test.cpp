// SPDX-License-Identifier: Apache-2.0
// The bound on a job's output: the first bytes stay, the middle goes, and readers are told how much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "runner/store/record_store.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

constexpr LogBound kBound{.bytes = 64 << 10, .kept_first = 8 << 10, .segment_bytes = 4 << 10};

std::uint64_t outputOnDisk(const testing::TempDir& directory) {
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory / "out")) bytes += file.file_size();
  return bytes;
}

// 468 bytes and a header of 32.
std::string text(std::uint64_t sequence) {
  return std::to_string(sequence) + std::string(468 - std::to_string(sequence).size(), '.');
}

std::vector<Record> recordsOf(const testing::TempDir& directory, LogBound bound, int count) {
  RecordWriter writer = RecordWriter::open(directory.path(), bound).value();
  for (int times = 0; times < count; ++times) {
    EXPECT_TRUE(writer.append(RecordKind::kOutput, text(writer.lastSequence() + 1)).ok());
    EXPECT_LE(outputOnDisk(directory), bound.bytes + bound.segment_bytes);
  }
  return testing::readRecords(directory.path());
}

TEST(OutputRing, KeepsEverythingUpToTheBound) {
  const testing::TempDir directory;
  const std::vector<Record> records = recordsOf(directory, kBound, (64 << 10) / 500);
  ASSERT_EQ(records.size(), 131u);
  EXPECT_EQ(records.back().sequence, 131u);
}

TEST(OutputRing, KeepsTheFirstAndTheLastBytesAndSaysHowManyWent) {
  const testing::TempDir directory;
  const std::vector<Record> records = recordsOf(directory, kBound, 1000);
  const auto gap = std::find_if(records.begin(), records.end(),
                                [](const Record& record) { return record.kind == RecordKind::kGap; });
  ASSERT_NE(gap, records.end());
  const auto kept = static_cast<std::uint64_t>(gap - records.begin()), last_missing = gap->sequence;
  EXPECT_EQ(kept, 17u) << "those that begin within the first 8 KiB";
  EXPECT_EQ(gap->bytes, std::to_string((last_missing - kept) * 468));
  EXPECT_GE((1000 - last_missing) * 500, kBound.bytes - kBound.kept_first - 2 * kBound.segment_bytes);
  ASSERT_EQ(records.size(), kept + 1 + 1000 - last_missing);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint64_t sequence = i <= kept ? i + 1 : last_missing + i - kept;
    if (i == kept) continue;
    EXPECT_EQ(records[i], (Record{sequence, RecordKind::kOutput, text(sequence)}));
  }
  EXPECT_GE(outputOnDisk(directory), kBound.bytes - kBound.segment_bytes) << "no more goes than must";
}

TEST(OutputRing, GoesOnAfterAnotherWriter) {
  const testing::TempDir directory;
  testing::KnownRecords known;
  for (int writers = 0; writers < 40; ++writers) {
    RecordWriter writer = RecordWriter::open(directory.path(), kBound).value();
    for (int times = 0; times < 100; ++times) {
      ASSERT_TRUE(testing::appendKnown(writer).ok());
      ASSERT_LE(outputOnDisk(directory), kBound.bytes + 300'100);
    }
  }
  for (const Record& record : testing::readRecords(directory.path())) known.take(record);
  EXPECT_EQ(known.last(), 4000u);
  EXPECT_GT(known.gaps(), 0);
}

TEST(OutputRing, NeverDropsEvents) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path(), kBound).value();
  for (int times = 0; times < 5000; ++times) {
    ASSERT_TRUE(writer.append(RecordKind::kEvent, "event").ok());
    ASSERT_TRUE(writer.append(RecordKind::kOutput, std::string(200, 'x')).ok());
  }
  std::uint64_t next_event = 1, dropped = 0, gaps = 0;
  for (const Record& record : testing::readRecords(directory.path())) {
    if (record.kind == RecordKind::kGap) dropped += std::stoull(record.bytes), ++gaps;
    if (record.kind != RecordKind::kEvent) continue;
    ASSERT_EQ(record.sequence, next_event);
    next_event += 2;
  }
  EXPECT_EQ(next_event, 10'001u);
  EXPECT_GT(gaps, 4000u) << "one between each two events";
  EXPECT_EQ(dropped, gaps * 200);
}

TEST(OutputRing, ReadsFromTheMiddleOfAGap) {
  const testing::TempDir directory;
  const std::vector<Record> all = recordsOf(directory, kBound, 1000);
  const Record gap = all[17];
  ASSERT_EQ(gap.kind, RecordKind::kGap);
  const std::vector<Record> records = testing::readRecords(directory.path(), gap.sequence - 5);
  ASSERT_EQ(records.size(), all.size() - 17);
  EXPECT_EQ(records[0].kind, RecordKind::kGap);
  EXPECT_EQ(records[0].sequence, gap.sequence);
  EXPECT_EQ(records[1], all[18]);
  EXPECT_EQ(testing::readRecords(directory.path(), gap.sequence + 1).front(), all[18]);
}

TEST(OutputRing, TakesBoundsThatLeaveNoRoom) {
  for (const LogBound bound : {LogBound{.bytes = 0}, LogBound{.bytes = 1}, LogBound{.bytes = 5000},
                               LogBound{.bytes = 5000, .kept_first = 0, .segment_bytes = 0}}) {
    const testing::TempDir directory;
    RecordWriter writer = RecordWriter::open(directory.path(), bound).value();
    for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) {
      ASSERT_TRUE(writer.append(RecordKind::kOutput, text(sequence)).ok());
      ASSERT_LE(outputOnDisk(directory), bound.bytes + 500) << bound.bytes;
    }
    const std::vector<Record> records = testing::readRecords(directory.path());
    ASSERT_FALSE(records.empty());
    EXPECT_EQ(records.back(), (Record{100, RecordKind::kOutput, text(100)})) << "the last one is there";
  }
}

}  // namespace
}  // namespace pop::runner
