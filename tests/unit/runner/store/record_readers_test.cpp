// SPDX-License-Identifier: Apache-2.0
// Readers beside a writer whose ring takes segments away under them.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runner/store/record_store.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

constexpr LogBound kSmall{.bytes = 128 << 10, .kept_first = 8 << 10, .segment_bytes = 8 << 10};

// Reads until record `last`; `slowness`: how often it lets others run after each record.
void follow(const std::string& directory, std::uint64_t last, int slowness, testing::KnownRecords& known) {
  RecordReader reader = RecordReader::open(directory).value();
  while (known.last() < last && !::testing::Test::HasFailure()) {
    const Result<std::optional<Record>> next = reader.next();
    ASSERT_TRUE(next.ok()) << next.status().message();
    if (next.value().has_value()) known.take(*next.value());
    const int yields = next.value().has_value() ? slowness : 1;
    for (int times = 0; times < yields; ++times) std::this_thread::yield();
  }
}

TEST(RecordReaders, LoseNothingButWhatAGapSaysBesideAWriter) {
  constexpr std::uint64_t kLast = 70'000;
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path(), kSmall).value();
  std::vector<testing::KnownRecords> known(3);
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < known.size(); ++i)
    readers.emplace_back([&, i] { follow(directory.path(), kLast, static_cast<int>(i), known[i]); });
  while (writer.lastSequence() < kLast) ASSERT_TRUE(testing::appendKnown(writer).ok());
  for (std::thread& reader : readers) reader.join();
  for (const testing::KnownRecords& each : known) EXPECT_EQ(each.last(), kLast);
}

TEST(RecordReaders, StopAnywhereAndGoOnWithTheRest) {
  constexpr std::uint64_t kLast = 4000;
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path()).value();
  while (writer.lastSequence() < kLast) ASSERT_TRUE(testing::appendKnown(writer).ok());
  testing::KnownRecords known;
  while (known.last() < kLast) {
    RecordReader reader = RecordReader::open(directory.path(), known.last() + 1).value();
    for (std::uint64_t times = 0; times < 1 + known.last() % 97 && known.last() < kLast; ++times) {
      const Result<std::optional<Record>> next = reader.next();
      ASSERT_TRUE(next.ok() && next.value().has_value());
      known.take(*next.value());
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_EQ(known.gaps(), 0);
}

TEST(RecordReaders, ReadOnInASegmentThatIsGone) {
  const testing::TempDir directory;
  RecordWriter writer = RecordWriter::open(directory.path(), kSmall).value();
  testing::KnownRecords known;
  RecordReader reader = RecordReader::open(directory.path()).value();
  while (writer.lastSequence() < 200) ASSERT_TRUE(testing::appendKnown(writer).ok());
  while (known.last() < 150) known.take(reader.next().value().value());
  while (writer.lastSequence() < 7000) ASSERT_TRUE(testing::appendKnown(writer).ok());
  while (known.last() < 7000 && !HasFailure()) known.take(reader.next().value().value());
  EXPECT_GT(known.gaps(), 0);
}

}  // namespace
}  // namespace pop::runner
