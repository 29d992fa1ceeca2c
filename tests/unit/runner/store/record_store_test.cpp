// SPDX-License-Identifier: Apache-2.0
#include "runner/store/record_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

using ::testing::ElementsAre;

const Record kFirst{1, RecordKind::kEvent, "begun"};
const Record kSecond{2, RecordKind::kOutput, "hello"};
const Record kThird{3, RecordKind::kOutput, std::string("\0\n", 2)};
const Record kFourth{4, RecordKind::kEvent, ""};

void append(RecordWriter& writer, const Record& record) {
  const Result<std::uint64_t> sequence = writer.append(record.kind, record.bytes);
  ASSERT_TRUE(sequence.ok()) << sequence.status().message();
  EXPECT_EQ(sequence.value(), record.sequence);
}

TEST(RecordStore, GivesEventsAndOutputInTheOrderOfTheirAppends) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  for (const Record& record : {kFirst, kSecond, kThird, kFourth}) append(writer, record);
  EXPECT_EQ(writer.lastSequence(), 4u);
  EXPECT_THAT(testing::readRecords(directory.path()), ElementsAre(kFirst, kSecond, kThird, kFourth));
}

TEST(RecordStore, ShowsARecordAtOnceAndNothingBefore) {
  const testing::TempDir directory;
  RecordReader reader = RecordReader::open(directory.path()).value();
  EXPECT_EQ(reader.next().value(), std::nullopt) << "no writer has been here";
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  EXPECT_EQ(reader.next().value(), std::nullopt);
  for (const Record& record : {kFirst, kSecond, kThird, kFourth}) {
    append(writer, record);
    EXPECT_EQ(reader.next().value(), record);
    EXPECT_EQ(reader.next().value(), std::nullopt);
  }
}

TEST(RecordStore, ReadsEventsAlone) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  RecordReader reader = RecordReader::open(directory.path(), 1, Reads::kEvents).value();
  EXPECT_EQ(reader.next().value(), std::nullopt);
  for (const Record& record : {kFirst, kSecond, kThird, kFourth}) append(writer, record);
  EXPECT_EQ(reader.next().value(), kFirst);
  EXPECT_EQ(reader.next().value(), kFourth);
  EXPECT_EQ(reader.next().value(), std::nullopt);
  RecordReader later = RecordReader::open(directory.path(), 2, Reads::kEvents).value();
  EXPECT_EQ(later.next().value(), kFourth);
}

TEST(RecordStore, KnowsItsLastSequenceWithoutAWriter) {
  const testing::TempDir directory;
  EXPECT_EQ(lastSequenceIn(directory.path()).value(), 0u);
  RecordWriter writer = RecordWriter::open(directory.path(), {.bytes = 64 << 10}).value();
  for (int times = 0; times < 3000; ++times) {
    ASSERT_TRUE(testing::appendKnown(writer).ok());
    if (times % 100 == 0) {
      EXPECT_EQ(lastSequenceIn(directory.path()).value(), writer.lastSequence());
    }
  }
}

TEST(RecordStore, ReadsFromAnySequence) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  for (const Record& record : {kFirst, kSecond, kThird, kFourth}) append(writer, record);
  EXPECT_THAT(testing::readRecords(directory.path(), 0), ElementsAre(kFirst, kSecond, kThird, kFourth));
  EXPECT_THAT(testing::readRecords(directory.path(), 2), ElementsAre(kSecond, kThird, kFourth));
  EXPECT_THAT(testing::readRecords(directory.path(), 4), ElementsAre(kFourth));
  EXPECT_THAT(testing::readRecords(directory.path(), 5), ElementsAre());

  RecordReader reader = RecordReader::open(directory.path(), 6).value();
  append(writer, {5, RecordKind::kOutput, "early"});
  EXPECT_EQ(reader.next().value(), std::nullopt);
  append(writer, {6, RecordKind::kOutput, "due"});
  EXPECT_EQ(reader.next().value(), (Record{6, RecordKind::kOutput, "due"}));
}

TEST(RecordStore, GoesOnWhereTheLastWriterEnded) {
  const testing::TempDir directory;
  for (const Record& record : {kFirst, kSecond, kThird, kFourth}) {
    RecordWriter writer = RecordWriter::open(directory.path()).value();
    EXPECT_EQ(writer.lastSequence(), record.sequence - 1);
    append(writer, record);
    EXPECT_TRUE(writer.sync().ok());
  }
  EXPECT_THAT(testing::readRecords(directory.path()), ElementsAre(kFirst, kSecond, kThird, kFourth));
}

TEST(RecordStore, RefusesWhatIsNoRecordAndStaysAsItWas) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  EXPECT_EQ(writer.append(RecordKind::kGap, "9").code(), Code::kInvalidArgument);
  EXPECT_EQ(writer.append(RecordKind::kOutput, std::string((64 << 20) + 1, 'x')).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(writer.lastSequence(), 0u);
  append(writer, kFirst);
  EXPECT_THAT(testing::readRecords(directory.path()), ElementsAre(kFirst));
}

TEST(RecordStore, KeepsTheLargestRecord) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  const Record largest{1, RecordKind::kOutput, std::string(64 << 20, 'x')};
  append(writer, largest);
  append(writer, kSecond);
  const std::vector<Record> records = testing::readRecords(directory.path());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_TRUE(records[0] == largest);
  EXPECT_EQ(records[1], kSecond);
}

TEST(RecordStore, OfADirectoryThatIsNotThereIsNotFound) {
  const testing::TempDir directory;
  EXPECT_EQ(RecordReader::open(directory / "none").code(), Code::kNotFound);
  EXPECT_EQ(RecordWriter::open(directory / "none").code(), Code::kNotFound);
}

TEST(RecordStore, SyncsSegmentsThatAreFullAndSurvivesThoseThatAreGone) {
  const testing::TempDir directory;
  RecordWriter writer =
      RecordWriter::open(directory.path(), {.bytes = 4000, .kept_first = 1000, .segment_bytes = 1000})
          .value();
  for (int times = 0; times < 100; ++times) {
    ASSERT_TRUE(writer.append(RecordKind::kOutput, std::string(300, 'x')).ok());
    if (times % 10 != 0) continue;
    ASSERT_TRUE(writer.sync().ok());
  }
  EXPECT_TRUE(writer.sync().ok());
}

}  // namespace
}  // namespace pop::runner
