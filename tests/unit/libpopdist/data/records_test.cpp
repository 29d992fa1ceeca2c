// SPDX-License-Identifier: Apache-2.0
// Files of records: what was written is read, and damage is named.
#include "libpopdist/data/formats/records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <thread>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/data_files.h"
#include "tests/unit/libpopdist/data/datasets.h"

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

std::string contentOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Records, DamageIsFoundWhereverItIs) {
  const TempDir dir;
  const auto path = dir / "data";
  writeRecords(counting(3), path);
  const std::string whole = contentOf(path);
  const std::size_t header = whole.find("end\n") + 4;
  int silent = 0;
  for (std::size_t at = 0; at < whole.size(); at = at + 1 == header ? 4096 : at + 1) {
    for (const int bit : {0, 5}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      testing::writeText(path, damaged);
      try {
        passOf(Dataset::records(path));
        ++silent;
      } catch (const popdist_error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr(path.string()));
      }
    }
  }
  EXPECT_EQ(silent, 0);
  testing::writeText(path, whole);
  EXPECT_EQ(passOf(Dataset::records(path)), upTo(3));
}

TEST(Records, NeitherARecordOfAnotherFileNorOneAtAnotherPlacePasses) {
  const TempDir dir;
  writeRecords(counting(3), dir / "a");
  writeRecords(counting(3), dir / "b");
  const std::string a = contentOf(dir / "a");
  const std::string b = contentOf(dir / "b");
  const std::size_t record = (a.size() - 4096) / 3;
  testing::writeText(dir / "c", a.substr(0, 4096 + record) + b.substr(4096 + record));
  testing::writeText(dir / "d", a.substr(0, 4096) + a.substr(4096 + record, record) + a.substr(4096, record) +
                                    a.substr(4096 + 2 * record));
  Tensors element(counting(3).spec());
  EXPECT_TRUE(Dataset::records(dir / "c").read(0, 0, element));
  expectError([&] { Dataset::records(dir / "c").read(0, 1, element); }, ErrorCode::kDataLoss, "record 1");
  expectError([&] { Dataset::records(dir / "d").read(0, 0, element); }, ErrorCode::kDataLoss, "record 0");
}

TEST(Records, OfBeforeChecksumsAreRead) {
  const TempDir dir;
  std::string old = "POPDIST RECORDS 1\nelements 3\ntensor uint8 2 x\nend\n";
  old.resize(4096);
  testing::writeText(dir / "old", old + "abcdef");
  const Dataset dataset = Dataset::records(dir / "old");
  Tensors element(dataset.spec());
  ASSERT_TRUE(dataset.read(0, 2, element));
  EXPECT_THAT(element.get<std::uint8_t>("x"), ::testing::ElementsAre('e', 'f'));
}

/// Errors of an open dataset once its file was changed in place.
class ChangedFile : public ::testing::Test {
 protected:
  using Paths = std::vector<std::filesystem::path>;

  /// `change` gets the path; `open` makes the dataset.
  void expectFound(const std::string& content, const std::function<Dataset(const Paths&)>& open,
                   const std::function<void(const std::filesystem::path&)>& change) {
    const auto path = dir_ / "data";
    std::filesystem::remove(path);
    if (content.empty())
      writeRecords(counting(10'000), path);
    else
      testing::writeText(path, content);
    const Dataset dataset = open({path});
    Tensors element(dataset.spec());
    ASSERT_TRUE(dataset.read(0, 0, element));
    change(path);
    const auto readOn = [&] {
      for (std::uint64_t i = 0; dataset.read(0, i, element); ++i) {
      }
    };
    expectError(readOn, ErrorCode::kDataLoss, path.string());
    expectError(readOn, ErrorCode::kDataLoss, path.string());
  }

  void expectFoundInAll(const std::function<void(const std::filesystem::path&)>& change) {
    const Spec spec{{"x", Type::kUint8, {4}}};
    std::string rows;
    std::string records;
    std::string members;
    for (int i = 0; i < 5000; ++i) {
      rows += std::to_string(10'000 + i) + '\n';
      records += testing::tfRecord("abcd");
      if (i < 20) members += testing::tarFile(std::to_string(i) + ".x", "abcd");
    }
    const auto decode = [](const TarElement& files, TensorRefs to) {
      std::memcpy(to.data()[0], files.file("x").data(), 4);
    };
    expectFound(
        "", [](const Paths& paths) { return Dataset::records(paths[0]); }, change);
    expectFound(
        testing::npyFile(testing::npyDictionary("<i4", "(5000,)"), std::string(20'000, 'x')),
        [](const Paths& paths) {
          return Dataset::npy({{"x", paths[0]}});
        },
        change);
    expectFound(
        "a\n" + rows,
        [](const Paths& paths) {
          return Dataset::csv(paths[0], {.tensors = {{"x", {"a"}}}});
        },
        change);
    expectFound(
        records, [&](const Paths& paths) { return Dataset::tfRecords(paths, spec); }, change);
    expectFound(
        members + testing::tarEnd(), [&](const Paths& paths) { return Dataset::tar(paths, spec); }, change);
    expectFound(
        members + testing::tarEnd(), [&](const Paths& paths) { return Dataset::tar(paths, spec, decode); },
        change);
  }

  TempDir dir_;
};

TEST_F(ChangedFile, MadeShorterIsAnErrorAndNoSignal) {
  expectFoundInAll([](const auto& path) { std::filesystem::resize_file(path, 5000); });
  expectFoundInAll([](const auto& path) { std::filesystem::resize_file(path, 0); });
}

TEST_F(ChangedFile, RewrittenInPlaceIsAnError) {
  expectFoundInAll([](const auto& path) {
    const std::string other(std::filesystem::file_size(path), '7');
    testing::writeText(path, other);
  });
}

TEST_F(ChangedFile, ReplacedByAnotherOfItsNameGoesOn) {
  writeRecords(counting(100), dir_ / "data");
  testing::writeText(dir_ / "data.npy", testing::npyFile(testing::npyDictionary("|u1", "(2,)"), "ab"));
  const Dataset records = Dataset::records(dir_ / "data");
  const Dataset array = Dataset::npy({{"x", dir_ / "data.npy"}});
  writeRecords(counting(7), dir_ / "data");
  testing::writeText(dir_ / "new", "something else");
  std::filesystem::rename(dir_ / "new", dir_ / "data.npy");
  EXPECT_EQ(passOf(records), upTo(100));
  Tensors element(array.spec());
  ASSERT_TRUE(array.read(0, 1, element));
  EXPECT_EQ(element.get<std::uint8_t>("x")[0], 'b');
}

TEST(ChangedFileDeathTest, SignalsOfOtherMemoryGoToWhoeverHadThem) {
  const TempDir dir;
  const auto fail = [&](bool has_handler) {
    std::signal(SIGBUS, SIG_DFL);  // not a sanitizer's
    if (has_handler) std::signal(SIGBUS, [](int) { ::_exit(7); });
    writeRecords(counting(3), dir / "data");
    passOf(Dataset::records(dir / "data"));
    testing::writeText(dir / "other", "x");
    const int file = ::open((dir / "other").c_str(), O_RDWR);
    auto* const memory = static_cast<volatile char*>(::mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0));
    ::ftruncate(file, 0);
    ::_exit(memory[0]);
  };
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(fail(true), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(fail(false), ::testing::KilledBySignal(SIGBUS), "");
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
