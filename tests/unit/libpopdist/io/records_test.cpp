// SPDX-License-Identifier: Apache-2.0
// Files of records: what was written is read, and damage is named.
#include "libpopdist/src/io/formats/records.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <new>
#include <thread>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/io/datasets.h"

namespace popdist::io {
namespace {

using pop::testing::TempDir;
using testing::counting;
using testing::expectError;
using testing::passOf;
using testing::upTo;

TEST(Records, GiveBackWhatWasWritten) {
  const TempDir dir;
  writeRecords(counting(1000), dir / "data");
  const Dataset dataset = Dataset::records(dir / "data");
  EXPECT_EQ(dataset.size(), 1000U);
  EXPECT_EQ(textOf(dataset.spec()), "x: float [2], y: int32 []");
  EXPECT_EQ(passOf(dataset), upTo(1000));
  EXPECT_FALSE(std::filesystem::exists(dir / "data.partial"));
}

TEST(Records, KeepTheOrderOfThePassThatIsWritten) {
  const TempDir dir;
  writeRecords(counting(50).shuffle(1), dir / "data", 3);
  EXPECT_EQ(passOf(Dataset::records(dir / "data")), passOf(counting(50).shuffle(1), 3));
}

TEST(Records, LimitOfFileSizesIsAnErrorAndLeavesNothing) {
  const TempDir dir;
  const auto write = [&] {
    ::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    expectError([&] { writeRecords(counting(10'000), dir / "a"); }, ErrorCode::kResourceExhausted,
                "cannot write");
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(write(), ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Records, MayBeNone) {
  const TempDir dir;
  writeRecords(counting(3).take(0), dir / "data");
  EXPECT_EQ(Dataset::records(dir / "data").size(), 0U);
}

TEST(Records, DatasetWithoutEndIsRefused) {
  const TempDir dir;
  expectError([&] { writeRecords(counting(3).repeat(), dir / "data"); }, ErrorCode::kInvalidArgument,
              "no end");
  EXPECT_FALSE(std::filesystem::exists(dir / "data.partial"));
}

Spec oneByte() {
  return {{"x", Type::kUint8, {}}};
}

pop::Status append(RecordWriter& writer, char value) {
  const auto* byte = reinterpret_cast<const std::byte*>(&value);
  return writer.append(&byte);
}

TEST(RecordWriter, OneAtATimeMakesAFile) {
  const TempDir dir;
  const std::string path = dir / "data";
  auto first = RecordWriter::create(path, oneByte());
  ASSERT_TRUE(first.ok()) << first.status().message();
  const auto second = RecordWriter::create(path, oneByte());
  EXPECT_EQ(second.code(), pop::Code::kUnavailable);
  EXPECT_THAT(second.status().message(), ::testing::HasSubstr(path));
  EXPECT_TRUE(RecordWriter::create(dir / "other", oneByte()).ok());
  EXPECT_TRUE(append(*first, 'a').ok());
  EXPECT_TRUE(first->finish().ok());
  EXPECT_EQ(Dataset::records(path).size(), 1U);
  // The name is free again, also while the one before still lives.
  EXPECT_TRUE(RecordWriter::create(path, oneByte()).ok());
}

TEST(RecordWriter, WritersInThreadsMakeOneWholeFileOrSayThatAnotherIsAtIt) {
  const TempDir dir;
  const auto path = dir / "data";
  std::atomic<int> written{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        try {
          writeRecords(counting(2000), path);
          ++written;
        } catch (const popdist_error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
          continue;
        }
        EXPECT_EQ(Dataset::records(path).size(), 2000U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(written, 0);
  EXPECT_FALSE(std::filesystem::exists(dir / "data.partial"));
}

TEST(RecordWriter, LeavesNothingWhenItFails) {
  const TempDir dir;
  std::filesystem::create_directories(dir / "data/taken");
  EXPECT_THROW(writeRecords(counting(3), dir / "data"), popdist_error);
  const auto fail = [](std::uint64_t index) {
    if (index == 2) throw std::bad_alloc();
  };
  EXPECT_THROW(writeRecords(counting(3, fail), dir / "other"), std::bad_alloc);
  EXPECT_FALSE(std::filesystem::exists(dir / "data.partial"));
  EXPECT_FALSE(std::filesystem::exists(dir / "other.partial"));
  EXPECT_FALSE(std::filesystem::exists(dir / "other"));
}

TEST(RecordWriter, ReplacesNothingButFiles) {
  const TempDir dir;
  const auto pipe = dir / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, dir / "link");
  std::filesystem::create_symlink(dir / "nowhere", dir / "dangling");
  for (const std::string name : {"pipe", "link"}) {
    expectError([&] { writeRecords(counting(3), dir / name); }, ErrorCode::kInvalidArgument,
                (dir / name).string());
  }
  EXPECT_TRUE(std::filesystem::is_fifo(std::filesystem::symlink_status(pipe)));
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  expectError([&] { writeRecords(counting(3), dir / "dangling"); }, ErrorCode::kNotFound, "link");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "dangling"));
}

TEST(RecordWriter, ReplacesTheFileThatALinkNames) {
  const TempDir dir;
  const TempDir other;
  writeRecords(counting(3), other / "data");
  std::filesystem::create_symlink(other / "data", dir / "link");
  writeRecords(counting(5), dir / "link");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(passOf(Dataset::records(other / "data")), upTo(5));
}

TEST(RecordWriter, UsesAgainWhatAKilledOneHasLeft) {
  const TempDir dir;
  std::ofstream(dir / "data.partial") << std::string(100'000, 'x');
  writeRecords(counting(10), dir / "data");
  EXPECT_EQ(passOf(Dataset::records(dir / "data")), upTo(10));
}

TEST(Records, DamagedFilesAreNamed) {
  const TempDir dir;
  const auto path = dir / "data";
  expectError([&] { Dataset::records(path); }, ErrorCode::kNotFound, path.string());
  std::ofstream(path) << "something else";
  expectError([&] { Dataset::records(path); }, ErrorCode::kInvalidArgument, "not a file of popdist records");
  std::ofstream(path, std::ios::trunc).flush();
  expectError([&] { Dataset::records(path); }, ErrorCode::kInvalidArgument, "it has no content");
  expectError([&] { Dataset::records(dir.path()); }, ErrorCode::kInvalidArgument, "directory");
  writeRecords(counting(10), path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  expectError([&] { Dataset::records(path); }, ErrorCode::kDataLoss,
              "its header says 10 records of 12 bytes");
}

TEST(RecordsHeader, IsReadAsItWasWritten) {
  const RecordsHeader header{{{"a name", Type::kBfloat16, {2, 3}}, {"b", Type::kBool, {}}}, 7};
  const auto read = parseRecordsHeader(textOf(header).value() + "rest", "file");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().spec, header.spec);
  EXPECT_EQ(read.value().elements, 7U);
}

TEST(RecordsHeader, LinesThatAreWrongAreShown) {
  const auto error = [](const std::string& text) {
    return parseRecordsHeader("POPDIST RECORDS 1\n" + text, "file").status().message();
  };
  EXPECT_THAT(error("elements -1\nend\n"), ::testing::HasSubstr("second line"));
  EXPECT_THAT(error("elements 3\ntensor float 2 x\n"), ::testing::HasSubstr("no end"));
  EXPECT_THAT(error("elements 3\ntensor flaot 2 x\nend\n"), ::testing::HasSubstr("'tensor flaot 2 x'"));
  EXPECT_THAT(error("elements 3\ntensor float 2,, x\nend\n"), ::testing::HasSubstr("2,,"));
  EXPECT_THAT(error("elements 3\nend\n"), ::testing::HasSubstr("has no tensor"));
  EXPECT_THAT(error("elements 3\ntensor float 99999999999,99999999999 x\nend\n"),
              ::testing::HasSubstr("exceeds"));
  EXPECT_FALSE(textOf(RecordsHeader{{{"a\nb", Type::kFloat, {}}}, 1}).ok());
}

}  // namespace
}  // namespace popdist::io
