// SPDX-License-Identifier: Apache-2.0
// Writers that are killed at any moment, with a reader that stays through all of them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/random.h"
#include "runner/store/record_store.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

pid_t startWriter(const std::string& directory, LogBound bound) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  Result<RecordWriter> writer = RecordWriter::open(directory, bound);
  while (writer.ok() && testing::appendKnown(writer.value()).ok()) {
  }
  ::_exit(1);
}

void takeUntil(RecordReader& reader, testing::KnownRecords& known, std::uint64_t last) {
  while (known.last() < last) {
    const Result<std::optional<Record>> next = reader.next();
    ASSERT_TRUE(next.ok()) << next.status().message();
    if (next.value().has_value()) known.take(*next.value());
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

void killWritersAgainAndAgain(LogBound bound) {
  const testing::TempDir directory;
  RecordReader reader = RecordReader::open(directory.path()).value();
  testing::KnownRecords known;
  SplitMix64 random(1);
  for (int round = 0; round < 60; ++round) {
    const pid_t writer = startWriter(directory.path(), bound);
    ASSERT_GT(writer, 0);
    takeUntil(reader, known, known.last() + 1 + random.below(3000));
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status)) << "an append failed";
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  RecordWriter writer = RecordWriter::open(directory.path(), bound).value();
  ASSERT_GE(writer.lastSequence(), known.last());
  takeUntil(reader, known, writer.lastSequence());
  ASSERT_TRUE(testing::appendKnown(writer).ok());
  takeUntil(reader, known, writer.lastSequence());
  testing::KnownRecords again;
  for (const Record& record : testing::readRecords(directory.path())) again.take(record);
  EXPECT_EQ(again.last(), writer.lastSequence());
}

TEST(RecordCrash, LeavesWholeRecordsInARing) {
  killWritersAgainAndAgain({.bytes = 256 << 10, .kept_first = 32 << 10, .segment_bytes = 16 << 10});
}

TEST(RecordCrash, LeavesWholeRecordsInOneFile) {
  killWritersAgainAndAgain({.bytes = 1 << 30, .kept_first = 0, .segment_bytes = 256 << 20});
}

}  // namespace
}  // namespace pop::runner
