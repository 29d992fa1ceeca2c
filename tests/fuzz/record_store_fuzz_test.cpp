// SPDX-License-Identifier: Apache-2.0
// Damaged stores of records: whatever is in the files, a reader gives records of rising sequence that were
// written, or says that they are lost, in bounded memory; and a writer goes on behind what is whole. Seeded.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "runner/store/record_store.h"
#include "tests/testing/allocation_peak.h"
#include "tests/testing/file_text.h"
#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRecordStoreRounds = 400;
constexpr LogBound kBound{.bytes = 1500, .kept_first = 200, .segment_bytes = 200};
// Two files are read at a time, each in pieces of 256 KiB at least.
constexpr std::size_t kMostBytes = 1 << 20;

using Written = std::map<std::uint64_t, Record>;

void write(RecordWriter& writer, SplitMix64& random, Written& written) {
  for (std::uint64_t times = random.below(40); times > 0; --times) {
    const RecordKind kind = random.below(3) == 0 ? RecordKind::kEvent : RecordKind::kOutput;
    const std::string bytes(random.below(50), static_cast<char>(random.below(256)));
    const Result<std::uint64_t> sequence = writer.append(kind, bytes);
    ASSERT_TRUE(sequence.ok()) << sequence.status().message();
    ASSERT_FALSE(written.contains(sequence.value())) << "a sequence came twice";
    written[sequence.value()] = {sequence.value(), kind, bytes};
  }
}

void mutate(std::string& bytes, SplitMix64& random) {
  const std::size_t at = random.below(bytes.size() + 1);
  switch (random.below(7)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes.erase(at, 1 + random.below(60));
      break;
    case 2:
      bytes.insert(at, 1 + random.below(60), static_cast<char>(random.below(3)));
      break;
    case 3:
      bytes.append(random.below(600), '\0');
      break;
    case 4:
      bytes.insert(at, bytes.substr(0, at));
      break;
    case 5:
      bytes.replace(at, 4, "\xff\xff\xff\x7f");
      break;
    default:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
  }
}

void damage(const testing::TempDir& directory, SplitMix64& random) {
  std::vector<fs::path> files = {directory / "journal"};
  for (const auto& file : fs::directory_iterator(directory / "out")) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
    const fs::path& file = files[random.below(files.size())];
    const fs::path& source = random.below(10) == 0 ? files[random.below(files.size())] : file;
    std::string bytes = testing::fileText(source);
    if (&source == &file) mutate(bytes, random);
    fs::remove(file);
    if (random.below(10) > 0) std::ofstream(file, std::ios::binary) << bytes;
  }
}

// Reads to the end or to the damage; false: damage.
bool readChecked(const testing::TempDir& directory, const Written& written) {
  const testing::AllocationPeak peak;
  RecordReader reader = RecordReader::open(directory.path()).value();
  std::uint64_t last = 0;
  while (true) {
    const Result<std::optional<Record>> next = reader.next();
    EXPECT_LE(peak.bytes(), kMostBytes);
    EXPECT_TRUE(next.ok() || next.code() == Code::kDataLoss) << next.status().message();
    if (!next.ok() || !next.value().has_value()) return next.ok();
    const Record& record = *next.value();
    EXPECT_GT(record.sequence, last);
    last = record.sequence;
    if (record.kind == RecordKind::kGap) continue;
    const auto original = written.find(record.sequence);
    EXPECT_TRUE(original != written.end() && original->second == record) << "record " << record.sequence;
  }
}

TEST(RecordStoreFuzz, DamagedFilesGiveWhatWasWrittenOrDataLoss) {
  int damaged = 0;
  for (std::uint64_t round = 0; round < kRecordStoreRounds; ++round) {
    SCOPED_TRACE(round);
    SplitMix64 random(round);
    const testing::TempDir directory;
    Written written;
    {
      RecordWriter writer = RecordWriter::open(directory.path(), kBound).value();
      ASSERT_NO_FATAL_FAILURE(write(writer, random, written));
    }
    damage(directory, random);
    if (!readChecked(directory, written)) ++damaged;

    // Lost records at the end leave no trace, so their sequences may come again.
    RecordWriter writer = RecordWriter::open(directory.path(), kBound).value();
    written.erase(written.upper_bound(writer.lastSequence()), written.end());
    ASSERT_NO_FATAL_FAILURE(write(writer, random, written));
    ASSERT_TRUE(readChecked(directory, written)) << "a writer leaves a store that is whole";
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(damaged, static_cast<int>(kRecordStoreRounds) / 4);
}

TEST(RecordStoreFuzz, NoiseGivesNothingOrDataLoss) {
  for (std::uint64_t round = 0; round < kRecordStoreRounds; ++round) {
    SCOPED_TRACE(round);
    SplitMix64 random(~round);
    const testing::TempDir directory;
    fs::create_directory(directory / "out");
    for (const char* file : {"journal", "out/00000000000000000001.first", "out/00000000000000000002.ring"}) {
      std::string noise(random.below(300), '\0');
      for (char& byte : noise) byte = random.below(3) == 0 ? static_cast<char>(random.below(256)) : '\0';
      std::ofstream(directory / file, std::ios::binary) << noise;
    }
    readChecked(directory, {});
    RecordWriter writer = RecordWriter::open(directory.path(), kBound).value();
    Written written;
    ASSERT_NO_FATAL_FAILURE(write(writer, random, written));
    ASSERT_TRUE(readChecked(directory, written));
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace pop::runner
