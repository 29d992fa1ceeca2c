// SPDX-License-Identifier: Apache-2.0
// Records that follow from their sequence alone, so that a reader knows what each must be, also how many
// bytes a gap stands for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "runner/store/record_store.h"

namespace pop::testing {

using runner::Record;
using runner::RecordKind;
using runner::RecordReader;
using runner::RecordWriter;

/// Every seventh is an event; a few are larger than what a reader reads at once.
inline Record knownRecord(std::uint64_t sequence) {
  SplitMix64 random(sequence);
  const bool is_large = random.below(2000) == 0;
  const std::size_t size = is_large ? 300'000 : random.below(300);
  const RecordKind kind = sequence % 7 == 0 ? RecordKind::kEvent : RecordKind::kOutput;
  return {sequence, kind, std::string(size, static_cast<char>('a' + random.below(26)))};
}

inline Result<std::uint64_t> appendKnown(RecordWriter& writer) {
  const Record record = knownRecord(writer.lastSequence() + 1);
  return writer.append(record.kind, record.bytes);
}

/// Takes what a reader gave, in order, and fails the test if something is lost, doubled or wrong.
class KnownRecords {
 public:
  void take(const Record& record) {
    if (record.kind == RecordKind::kGap) return takeGap(record);
    ASSERT_EQ(record.sequence, next_);
    ASSERT_TRUE(record == knownRecord(next_)) << "record " << next_;
    ++next_;
  }

  std::uint64_t last() const { return next_ - 1; }
  int gaps() const { return gaps_; }

 private:
  void takeGap(const Record& gap) {
    ASSERT_GE(gap.sequence, next_);
    std::uint64_t bytes = 0;
    for (; next_ <= gap.sequence; ++next_) {
      const Record missing = knownRecord(next_);
      ASSERT_EQ(missing.kind, RecordKind::kOutput) << "event " << next_ << " was dropped";
      bytes += missing.bytes.size();
    }
    ASSERT_EQ(gap.bytes, std::to_string(bytes)) << "up to " << gap.sequence;
    ++gaps_;
  }

  std::uint64_t next_ = 1;
  int gaps_ = 0;
};

/// The present records, from `from` on.
inline std::vector<Record> readRecords(const std::string& directory, std::uint64_t from = 1) {
  std::vector<Record> records;
  Result<RecordReader> reader = RecordReader::open(directory, from);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  while (reader.ok()) {
    Result<std::optional<Record>> next = reader->next();
    EXPECT_TRUE(next.ok()) << next.status().message();
    if (!next.ok() || !next.value().has_value()) break;
    records.push_back(std::move(*next.value()));
  }
  return records;
}

/// The code with which reading stops; kOk: at the end of what is there.
inline Code readingEndsWith(const std::string& directory) {
  Result<RecordReader> reader = RecordReader::open(directory);
  while (reader.ok()) {
    const Result<std::optional<Record>> next = reader->next();
    if (!next.ok()) return next.code();
    if (!next.value().has_value()) return Code::kOk;
  }
  return reader.code();
}

}  // namespace pop::testing
