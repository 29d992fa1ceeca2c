// SPDX-License-Identifier: Apache-2.0
// Stores on a full disk, a real one: a small tmpfs that only a child of the test sees.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "runner/store/job_directory.h"
#include "runner/store/record_store.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

constexpr std::uint64_t kDiskBytes = 2 << 20;

void inAChild(const std::function<void()>& check) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    check();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

void mountSmallDisk(const std::string& directory) {
  const int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
  ASSERT_EQ(::unshare(CLONE_NEWNS | user), 0);
  ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  const std::string options = "size=" + std::to_string(kDiskBytes);
  ASSERT_EQ(::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()), 0);
}

void takeAll(RecordReader& reader, testing::KnownRecords& known) {
  while (true) {
    const Result<std::optional<Record>> next = reader.next();
    ASSERT_TRUE(next.ok()) << next.status().message();
    if (!next.value().has_value()) return;
    known.take(*next.value());
  }
}

// Appends until `failures` appends have failed.
void appendBeyondSpace(RecordWriter& writer, RecordReader& reader, testing::KnownRecords& known,
                       int failures) {
  while (failures > 0) {
    const Result<std::uint64_t> appended = testing::appendKnown(writer);
    if (!appended.ok()) {
      ASSERT_EQ(appended.code(), Code::kResourceExhausted) << appended.status().message();
      --failures;
    }
    ASSERT_NO_FATAL_FAILURE(takeAll(reader, known));
  }
}

TEST(FullDisk, DropsOutputIntoAGapAndGoesOnWhenThereIsSpace) {
  const testing::TempDir directory;
  inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk(directory.path()));
    RecordWriter writer = RecordWriter::open(directory.path()).value();
    RecordReader reader = RecordReader::open(directory.path()).value();
    testing::KnownRecords known;
    for (int round = 0; round < 5; ++round) {
      const std::string filler = directory / "filler";
      std::ofstream(filler) << std::string(kDiskBytes / 2, 'x');
      // Sooner or later an event comes, and has no space either.
      ASSERT_NO_FATAL_FAILURE(appendBeyondSpace(writer, reader, known, 100));
      std::filesystem::remove(filler);
      for (int times = 0; times < 20; ++times) ASSERT_TRUE(testing::appendKnown(writer).ok());
      ASSERT_NO_FATAL_FAILURE(takeAll(reader, known));
      EXPECT_EQ(known.last(), writer.lastSequence());
      RecordWriter next = RecordWriter::open(directory.path()).value();
      EXPECT_EQ(next.lastSequence(), writer.lastSequence());
    }
  });
}

TEST(FullDisk, ShowsNoPartOfARecordToAReaderBesideTheWriter) {
  const testing::TempDir directory;
  inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk(directory.path()));
    RecordWriter writer = RecordWriter::open(directory.path()).value();
    RecordReader reader = RecordReader::open(directory.path()).value();
    testing::KnownRecords known;
    std::atomic<bool> is_done = false;
    std::thread beside([&] {
      while (!is_done && !::testing::Test::HasFailure()) takeAll(reader, known);
    });
    // An event that has space for a part of it only is tried again and again until a page more is free.
    const std::string filler = directory / "filler";
    std::ofstream(filler) << std::string(kDiskBytes / 2, 'x');
    for (int pages = 100; pages > 0; --pages) {
      for (int failures = 0; failures < 100;) failures += testing::appendKnown(writer).ok() ? 0 : 1;
      std::filesystem::resize_file(filler, std::filesystem::file_size(filler) - 4096);
    }
    is_done = true;
    beside.join();
    takeAll(reader, known);
    EXPECT_GT(known.last(), 3000u);
  });
}

TEST(FullDisk, HasNoSpaceForTheDirectoryOfAJob) {
  const testing::TempDir directory;
  inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk(directory.path()));
    const JobDirectories jobs(directory / "jobs");
    ASSERT_TRUE(jobs.create("", "spec").ok());
    std::ofstream(directory / "filler") << std::string(kDiskBytes * 2, 'x');
    EXPECT_EQ(jobs.create("", "spec").code(), Code::kResourceExhausted);
    const std::vector<JobEntry> left = jobs.list().value();
    ASSERT_EQ(left.size(), 1u);
    EXPECT_FALSE(std::filesystem::exists(directory / "jobs/2"));
    EXPECT_EQ(writeOutcome(left[0].path, "done").code(), Code::kResourceExhausted);
    EXPECT_EQ(readOutcome(left[0].path).code(), Code::kNotFound) << "not a part of it";
  });
}

TEST(FullDisk, HasSpaceForTheOutcomeIfThatWasReserved) {
  const testing::TempDir directory;
  inAChild([&] {
    ASSERT_NO_FATAL_FAILURE(mountSmallDisk(directory.path()));
    const JobDirectories jobs(directory / "jobs");
    const std::string path = jobs.create("", "spec").value().path;
    ASSERT_TRUE(reserveForOutcome(path).ok());
    std::ofstream(directory / "filler") << std::string(kDiskBytes * 2, 'x');
    const std::string outcome(50'000, 'o');
    ASSERT_TRUE(writeOutcome(path, outcome).ok());
    EXPECT_EQ(readOutcome(path).value(), outcome);
  });
}

TEST(FullDisk, IsWhatALimitOnFileSizesIsLike) {
  const testing::TempDir directory;
  inAChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    RecordWriter writer = RecordWriter::open(directory.path()).value();
    RecordReader reader = RecordReader::open(directory.path()).value();
    testing::KnownRecords known;
    ASSERT_NO_FATAL_FAILURE(appendBeyondSpace(writer, reader, known, 300));
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    ASSERT_TRUE(testing::appendKnown(writer).ok());
    ASSERT_NO_FATAL_FAILURE(takeAll(reader, known));
    EXPECT_EQ(known.last(), writer.lastSequence());
    EXPECT_GT(known.gaps(), 0);
  });
}

}  // namespace
}  // namespace pop::runner
