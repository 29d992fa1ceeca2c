// SPDX-License-Identifier: Apache-2.0
// GzipSource on real files: nothing but whole ones, however many members they have, and plain files as they
// are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "libpopdist/data/formats/gzip_source.h"
#include "libpopdist/data/formats/idx_array.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;
using testing::idxFile;

constexpr std::size_t kBufferBytes = 128 * 1024;  // one read of the source

Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Bytes numbered(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  return bytes;
}

class GzipSourceTest : public ::testing::Test {
 protected:
  Bytes gzipOf(const Bytes& bytes, const char* mode = "wb") {
    testing::writeGzip(path_, bytes, mode);
    return testing::readAll(path_);
  }

  GzipSource sourceOf(const Bytes& file) {
    testing::writePlain(path_, file);
    pop::Result<GzipSource> source = GzipSource::open(path_.string());
    EXPECT_TRUE(source.ok()) << source.status().message();
    return std::move(source).value();
  }

  /// Reads `file` in pieces of `piece` bytes and expects `content` and a good end.
  void expectContent(const Bytes& file, const Bytes& content, std::size_t piece = 10'000) {
    GzipSource source = sourceOf(file);
    Bytes all;
    for (Bytes part(piece); part.size() == piece;) {
      pop::Result<std::size_t> got = source.read(part);
      ASSERT_TRUE(got.ok()) << got.status().message();
      part.resize(*got);
      all.insert(all.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(all == content) << all.size() << " bytes of " << content.size();
    EXPECT_TRUE(source.endStatus().ok()) << source.endStatus().message();
  }

  testing::TempDir dir_;
  std::filesystem::path path_ = dir_ / "file";
};

// Files that end inside the checksum or the size behind it: all elements are there, and nothing says that
// they are the right ones.
TEST_F(GzipSourceTest, FileWithoutItsLastBytesIsTruncated) {
  constexpr std::uint32_t kHeaderBytes = 8;
  for (const std::uint32_t elements : {1000U, 3 * 256 * 1024 - kHeaderBytes, 1'500'000U}) {
    for (const char* mode : {"wb", "wb0"}) {
      testing::writeGzip(path_, idxFile({elements}), mode);
      for (int missing = 1; missing <= 8; ++missing) {
        SCOPED_TRACE(std::to_string(elements) + ' ' + mode + " without its last " + std::to_string(missing));
        std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
        pop::Result<GzipSource> source = GzipSource::open(path_.string());
        ASSERT_TRUE(source.ok());
        const pop::Status status = readIdxArray(*source).status();
        EXPECT_EQ(status.code(), pop::Code::kDataLoss);
        EXPECT_THAT(status.message(), HasSubstr(path_.string()));
        EXPECT_THAT(status.message(), HasSubstr("is truncated: its gzip stream has no end"));
      }
    }
  }
}

TEST_F(GzipSourceTest, ChecksumIsLookedAtHoweverMuchIsRead) {
  constexpr std::uint32_t kHeaderBytes = 8;
  for (const std::uint32_t elements : {1000U, 3 * 256 * 1024 - kHeaderBytes, 1'500'000U}) {
    Bytes file = gzipOf(idxFile({elements}), "wb0");  // stored: byte 500 is an element as it is
    file[500] ^= 1U;
    GzipSource source = sourceOf(file);
    const pop::Status status = readIdxArray(source).status();
    EXPECT_EQ(status.code(), pop::Code::kDataLoss) << elements;
    EXPECT_THAT(status.message(), HasSubstr("corrupt gzip data: incorrect data check"));
  }
}

TEST_F(GzipSourceTest, MembersFollowEachOther) {
  const Bytes first = gzipOf(numbered(100'000));
  const Bytes none = gzipOf({});
  const Bytes last = gzipOf(numbered(7));
  for (const std::size_t piece : {1U, 7U, 100'000U, 100'007U, 1'000'000U}) {
    expectContent(first + none + last + none, numbered(100'000) + numbered(7), piece);
  }
  expectContent(none, {});
}

// The two bytes that begin a member may lie in two reads of the file.
TEST_F(GzipSourceTest, MembersMeetWhereverTheBufferEnds) {
  const std::size_t frame = gzipOf(numbered(kBufferBytes - 100), "wb0").size() - (kBufferBytes - 100);
  for (const std::size_t end : {kBufferBytes - 2, kBufferBytes - 1, kBufferBytes, kBufferBytes + 1}) {
    SCOPED_TRACE(end);
    const Bytes content = numbered(end - frame);
    const Bytes first = gzipOf(content, "wb0");
    ASSERT_EQ(first.size(), end);
    expectContent(first + gzipOf(numbered(50)), content + numbered(50));
  }
}

TEST_F(GzipSourceTest, LaterMemberMayBeTruncatedToo) {
  const Bytes first = gzipOf(idxFile({5}));
  const Bytes second = gzipOf(numbered(50));
  for (std::size_t left = 2; left < second.size(); ++left) {
    GzipSource source =
        sourceOf(first + Bytes(second.begin(), second.begin() + static_cast<std::ptrdiff_t>(left)));
    Bytes all(1000);
    ASSERT_TRUE(source.read(all).ok()) << left;
    EXPECT_EQ(source.endStatus().code(), pop::Code::kDataLoss) << left;
  }
}

TEST_F(GzipSourceTest, WhatFollowsTheLastMemberAndIsNoneIsPassedOver) {
  const Bytes whole = gzipOf(numbered(1000));
  for (const Bytes& rest : {Bytes{0}, Bytes(512, 0), Bytes{0x1f}, Bytes{0x1f, 0x8c, 8}, numbered(300'000)}) {
    expectContent(whole + rest, numbered(1000));
  }
}

TEST_F(GzipSourceTest, PlainFilesAreReadAsTheyAre) {
  for (const Bytes& file :
       {Bytes{}, Bytes{0x1f}, Bytes{0x1f, 0x8c}, Bytes{0x78, 0x9c, 3, 0, 0, 0, 0, 1}, numbered(3),
        numbered(kBufferBytes), numbered(300'000), numbered(5) + gzipOf(numbered(5))}) {
    for (const std::size_t piece : {7U, 10'000U, 1'000'000U}) expectContent(file, file, piece);
  }
}

TEST_F(GzipSourceTest, FileOfNothingButTheMagicNumberIsTruncated) {
  GzipSource source = sourceOf({0x1f, 0x8b});
  Bytes some(10);
  EXPECT_EQ(source.read(some).value(), 0U);
  EXPECT_EQ(source.endStatus().code(), pop::Code::kDataLoss);
}

// Sanitizers take memory of their own, which the limit would refuse them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
using Blocks = std::vector<std::unique_ptr<char[]>>;

/// Leaves this process as much as a message takes, which is less than the 32 KiB that inflate does.
[[nodiscard]] Blocks takeAlmostAllMemory() {
  constexpr std::size_t kBlockBytes = 8 * 1024;
  const auto for_a_message = std::make_unique<char[]>(kBlockBytes);
  Blocks blocks;
  blocks.reserve(1'000'000);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
  while (char* block = new (std::nothrow) char[kBlockBytes]) blocks.emplace_back(block);
  return blocks;
}

[[noreturn]] void exitTelling(const pop::Status& status) {
  std::fputs(status.message().c_str(), stderr);
  ::_exit(static_cast<int>(status.code()));
}

[[noreturn]] void openWithoutMemory(const std::string& path) {
  const Blocks taken = takeAlmostAllMemory();
  exitTelling(GzipSource::open(path).status());
}

[[noreturn]] void readWithoutMemory(const std::string& path) {
  pop::Result<GzipSource> source = GzipSource::open(path);
  std::array<std::uint8_t, 4> some{};
  const Blocks taken = takeAlmostAllMemory();
  exitTelling(source->read(some).status());
}

TEST_F(GzipSourceTest, TooLittleMemoryIsToldAsSuchWithTheFile) {
  testing::writeGzip(path_, numbered(1000));
  const auto resource_exhausted = ::testing::ExitedWithCode(static_cast<int>(pop::Code::kResourceExhausted));
  EXPECT_EXIT(openWithoutMemory(path_.string()), resource_exhausted,
              HasSubstr("cannot read '" + path_.string() + "': Cannot allocate memory"));
  EXPECT_EXIT(readWithoutMemory(path_.string()), resource_exhausted,
              HasSubstr("cannot decompress '" + path_.string() + "': Cannot allocate memory"));
}
#endif

}  // namespace
}  // namespace popdist::io
