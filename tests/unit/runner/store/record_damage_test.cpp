// SPDX-License-Identifier: Apache-2.0
// Files that end anywhere, that are damaged, or that are no files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "runner/store/record_store.h"
#include "tests/testing/file_text.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

constexpr const char* kFirstSegment = "out/00000000000000000001.first";

void setText(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

void append(const testing::TempDir& directory, std::initializer_list<RecordKind> kinds, LogBound bound = {}) {
  RecordWriter writer = RecordWriter::open(directory.path(), bound).value();
  for (const RecordKind kind : kinds)
    ASSERT_TRUE(writer.append(kind, "record " + std::to_string(writer.lastSequence() + 1)).ok());
}

// Every length of the file: readers see the whole records, a writer goes on behind them.
void cutEverywhere(RecordKind kind, const std::string& file) {
  const testing::TempDir directory;
  append(directory, {kind, kind, kind});
  const std::string whole = testing::fileText(directory / file);
  const std::size_t frame = whole.size() / 3;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    setText(directory / file, whole.substr(0, size));
    ASSERT_EQ(testing::readRecords(directory.path()).size(), size / frame);
    RecordReader reader = RecordReader::open(directory.path(), size / frame + 1).value();
    ASSERT_EQ(reader.next().value(), std::nullopt);

    RecordWriter writer = RecordWriter::open(directory.path()).value();
    ASSERT_EQ(writer.lastSequence(), size / frame);
    ASSERT_EQ(std::filesystem::file_size(directory / file), size / frame * frame);
    const std::uint64_t next = writer.append(kind, "next").value();
    ASSERT_EQ(reader.next().value(), (Record{next, kind, "next"}));
    ASSERT_EQ(reader.next().value(), std::nullopt);
    ASSERT_EQ(testing::readRecords(directory.path()).size(), next);
  }
}

TEST(RecordDamage, AJournalThatIsCutAnywhere) {
  cutEverywhere(RecordKind::kEvent, "journal");
}

TEST(RecordDamage, ASegmentThatIsCutAnywhere) {
  cutEverywhere(RecordKind::kOutput, kFirstSegment);
}

TEST(RecordDamage, ARecordIsNotThereUntilItsLastByteIs) {
  const testing::TempDir directory;
  append(directory, {RecordKind::kOutput});
  const std::string whole = testing::fileText(directory / kFirstSegment);
  setText(directory / kFirstSegment, "");
  RecordReader reader = RecordReader::open(directory.path()).value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    setText(directory / kFirstSegment, whole.substr(0, size));
    ASSERT_EQ(reader.next().value(), std::nullopt) << size;
  }
  setText(directory / kFirstSegment, whole);
  EXPECT_EQ(reader.next().value(), (Record{1, RecordKind::kOutput, "record 1"}));
}

TEST(RecordDamage, ZerosAtTheEndAreNotThere) {
  const testing::TempDir directory;
  append(directory, {RecordKind::kOutput, RecordKind::kEvent});
  for (const char* file : {"journal", kFirstSegment})
    setText(directory / file, testing::fileText(directory / file) + std::string(5000, '\0'));
  EXPECT_EQ(testing::readRecords(directory.path()).size(), 2u);
  append(directory, {RecordKind::kEvent, RecordKind::kOutput});
  EXPECT_EQ(testing::readRecords(directory.path()).size(), 4u);
}

TEST(RecordDamage, BeforeTheEndIsDataLossForReadersAndCutByAWriter) {
  for (const RecordKind kind : {RecordKind::kEvent, RecordKind::kOutput}) {
    const testing::TempDir directory;
    append(directory, {kind, kind, kind, kind});
    const std::string file = kind == RecordKind::kEvent ? "journal" : kFirstSegment;
    const std::string whole = testing::fileText(directory / file);
    const std::size_t frame = whole.size() / 4;
    for (std::size_t at = frame; at < 2 * frame; ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1);
      setText(directory / file, damaged);
      RecordReader reader = RecordReader::open(directory.path()).value();
      ASSERT_EQ(reader.next().value()->sequence, 1u) << at;
      ASSERT_EQ(reader.next().code(), Code::kDataLoss) << at;
      ASSERT_EQ(reader.next().code(), Code::kDataLoss) << "it stays so";
    }
    EXPECT_EQ(RecordWriter::open(directory.path()).value().lastSequence(), 1u);
    EXPECT_EQ(std::filesystem::file_size(directory / file), frame);
    EXPECT_EQ(testing::readRecords(directory.path()).size(), 1u);
  }
}

TEST(RecordDamage, InOneSegmentTakesThoseBehindItButNoSequenceComesTwice) {
  constexpr LogBound kTiny{.bytes = 1000, .kept_first = 40, .segment_bytes = 100};
  constexpr RecordKind kOutput = RecordKind::kOutput;
  const testing::TempDir directory;
  append(directory, {kOutput, kOutput, kOutput, kOutput, kOutput, kOutput, kOutput}, kTiny);
  const std::filesystem::path second = directory / "out/00000000000000000002.ring";
  setText(second, testing::fileText(second).substr(0, 50));
  EXPECT_EQ(testing::readingEndsWith(directory.path()), Code::kDataLoss);
  append(directory, {kOutput}, kTiny);
  const std::vector<Record> records = testing::readRecords(directory.path());
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[1].sequence, 2u);
  EXPECT_EQ(records[2], (Record{7, RecordKind::kGap, "40"})) << "5 records of 8 bytes";
  EXPECT_EQ(records[3], (Record{8, kOutput, "record 8"}));
}

TEST(RecordDamage, RecordsInTheWrongFileAreDataLoss) {
  const testing::TempDir directory;
  append(directory, {RecordKind::kEvent, RecordKind::kOutput});
  std::filesystem::copy_file(directory / "journal", directory / kFirstSegment,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(testing::readingEndsWith(directory.path()), Code::kDataLoss);
}

TEST(RecordDamage, RecordsTwiceAreDataLoss) {
  const testing::TempDir directory;
  append(directory, {RecordKind::kEvent});
  const std::string once = testing::fileText(directory / "journal");
  setText(directory / "journal", once + once);
  EXPECT_EQ(testing::readingEndsWith(directory.path()), Code::kDataLoss);
  EXPECT_EQ(RecordWriter::open(directory.path()).value().lastSequence(), 1u);
  EXPECT_EQ(testing::readRecords(directory.path()).size(), 1u);
}

TEST(RecordDamage, OtherFilesInTheOutputAreNotTouched) {
  const testing::TempDir directory;
  append(directory, {RecordKind::kOutput});
  const char* names[] = {"out/README", "out/1.first", "out/00000000000000000001.old",
                         "out/99999999999999999999.ring", "out/0000000000000000000x.ring"};
  for (const char* name : names) setText(directory / name, "mine");
  append(directory, {RecordKind::kOutput});
  EXPECT_EQ(testing::readRecords(directory.path()).size(), 2u);
  for (const char* name : names) EXPECT_EQ(testing::fileText(directory / name), "mine");
}

TEST(RecordDamage, LinksPipesAndDirectoriesAreRefusedWithoutWaiting) {
  for (const char* name : {"journal", kFirstSegment}) {
    const testing::TempDir directory;
    std::filesystem::create_directory(directory / "out");
    const auto refuse = [&](const char* what) {
      EXPECT_EQ(RecordWriter::open(directory.path()).code(), Code::kFailedPrecondition) << what;
      EXPECT_EQ(testing::readingEndsWith(directory.path()), Code::kFailedPrecondition) << what;
      std::filesystem::remove(directory / name);
    };
    setText(directory / "elsewhere", "mine");
    std::filesystem::create_symlink(directory / "elsewhere", directory / name);
    refuse("a link");
    EXPECT_EQ(testing::fileText(directory / "elsewhere"), "mine");
    ASSERT_EQ(::mkfifo((directory / name).c_str(), 0600), 0);
    refuse("a pipe");
    std::filesystem::create_directory(directory / name);
    refuse("a directory");
  }
}

}  // namespace
}  // namespace pop::runner
