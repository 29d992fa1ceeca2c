// SPDX-License-Identifier: Apache-2.0
// Dataset::idx on real files: what it reads, and what it says about files it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <functional>

#include "popdist/error.hpp"
#include "popdist/io.hpp"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::idxFile;
using testing::idxHeader;
using testing::writeGzip;
using testing::writePlain;

Bytes withoutLast(Bytes bytes, std::size_t count) {
  bytes.resize(bytes.size() - count);
  return bytes;
}

/// The bytes of all tensors; nothing where there is no such element.
Bytes bytesOf(const Dataset& dataset, std::uint64_t index) {
  Tensors element(dataset.spec());
  Bytes bytes;
  if (!dataset.read(0, index, element)) return bytes;
  for (std::size_t i = 0; i < element.size(); ++i) {
    for (const std::byte byte : element.at(i).bytes()) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  }
  return bytes;
}

class IdxDatasetTest : public ::testing::Test {
 protected:
  IdxDatasetTest() {
    writePlain(images_, idxFile({5, 2, 3}));
    writePlain(labels_, idxFile({5}));
  }

  /// Opens both files and expects it to fail with `code` and a message that has `file` and `cause` in it.
  void expectError(ErrorCode code, const std::filesystem::path& file, const std::string& cause) {
    try {
      const Dataset dataset = open();
      ADD_FAILURE() << "expected an error: " << cause;
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr("Dataset.idx"), HasSubstr(file.string()), HasSubstr(cause)));
      EXPECT_EQ(error.operation(), "Dataset.idx");
    }
  }

  Dataset open() const { return Dataset::idx({{"image", images_}, {"label", labels_}}); }

  testing::TempDir dir_;
  std::filesystem::path images_ = dir_ / "images";
  std::filesystem::path labels_ = dir_ / "labels";
};

TEST_F(IdxDatasetTest, ReadsPlainFiles) {
  const Dataset dataset = open();
  EXPECT_EQ(dataset.size(), 5U);
  EXPECT_EQ(textOf(dataset.spec()), "image: uint8 [2, 3], label: uint8 []");
  EXPECT_THAT(bytesOf(dataset, 2), ElementsAre(12, 13, 14, 15, 16, 17, 2));
  EXPECT_THAT(bytesOf(dataset, 5), ElementsAre());
}

TEST_F(IdxDatasetTest, GzipAndPlainFilesGiveTheSameElements) {
  writeGzip(dir_ / "images.gz", idxFile({300, 9, 31}));  // more than one chunk of the reader
  writePlain(images_, idxFile({300, 9, 31}));
  const Dataset both = Dataset::idx({{"plain", images_}, {"gzip", dir_ / "images.gz"}});
  ASSERT_EQ(both.size(), 300U);
  Tensors element(both.spec());
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(both.read(0, i, element));
    ASSERT_TRUE(std::ranges::equal(element.get<std::uint8_t>("plain"), element.get<std::uint8_t>("gzip")))
        << i;
    ASSERT_EQ(element.get<std::uint8_t>("gzip")[0], i * 9 * 31 % 251);
  }
}

TEST_F(IdxDatasetTest, RefusesNoFilesAndNamesTwice) {
  EXPECT_THROW(Dataset::idx({}), popdist_error);
  EXPECT_THROW(Dataset::idx({{"image", images_}, {"image", labels_}}), popdist_error);
  EXPECT_THROW(Dataset::idx({{"", images_}}), popdist_error);
}

TEST_F(IdxDatasetTest, MissingFile) {
  images_ = dir_ / "absent";
  expectError(ErrorCode::kNotFound, images_, "No such file or directory");
}

TEST_F(IdxDatasetTest, DirectoryInsteadOfFile) {
  std::filesystem::remove(images_);
  std::filesystem::create_directory(images_);
  expectError(ErrorCode::kInvalidArgument, images_, "is a directory");
}

TEST_F(IdxDatasetTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  images_ = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(images_.c_str(), 0600), 0);
  expectError(ErrorCode::kInvalidArgument, images_, "no regular file but a pipe");
  images_ = "/dev/zero";
  expectError(ErrorCode::kInvalidArgument, images_, "a device");
}

TEST_F(IdxDatasetTest, PathThatLeadsToNoFile) {
  const std::filesystem::path file = images_;
  images_ = file / "x";
  expectError(ErrorCode::kNotFound, images_, "Not a directory");
  images_ = dir_ / std::string(300, 'x');
  expectError(ErrorCode::kNotFound, images_, "File name too long");
  images_ = dir_ / "loop";
  std::filesystem::create_symlink(images_, images_);
  expectError(ErrorCode::kNotFound, images_, "Too many levels of symbolic links");
}

TEST_F(IdxDatasetTest, NoDescriptorLeftForTheFile) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  expectError(ErrorCode::kResourceExhausted, images_, "Too many open files");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(IdxDatasetTest, EmptyFile) {
  writePlain(labels_, {});
  expectError(ErrorCode::kDataLoss, labels_, "truncated: expected 4 bytes of magic number, got 0");
}

TEST_F(IdxDatasetTest, TruncatedDimensions) {
  writePlain(images_, withoutLast(idxHeader({5, 2, 3}), 1));
  expectError(ErrorCode::kDataLoss, images_, "truncated: expected 12 bytes of dimensions, got 11");
}

TEST_F(IdxDatasetTest, TruncatedElements) {
  writePlain(images_, withoutLast(idxFile({5, 2, 3}), 7));
  expectError(ErrorCode::kDataLoss, images_, "truncated: expected 30 bytes of elements (5 x 2 x 3), got 23");
}

TEST_F(IdxDatasetTest, TruncatedGzip) {
  writeGzip(images_, idxFile({5, 2, 3}));
  writePlain(images_, withoutLast(testing::readAll(images_), 15));
  expectError(ErrorCode::kDataLoss, images_, "truncated: expected 30 bytes of elements");
}

TEST_F(IdxDatasetTest, GzipWithoutItsChecksum) {
  writeGzip(images_, idxFile({5, 2, 3}));
  writePlain(images_, withoutLast(testing::readAll(images_), 8));
  expectError(ErrorCode::kDataLoss, images_, "truncated: its gzip stream has no end");
}

TEST_F(IdxDatasetTest, CorruptGzip) {
  writeGzip(images_, idxFile({5, 2, 3}));
  Bytes bytes = testing::readAll(images_);
  bytes[bytes.size() - 6] ^= 0x10U;  // in the checksum
  writePlain(images_, bytes);
  expectError(ErrorCode::kDataLoss, images_, "corrupt gzip data");
}

TEST_F(IdxDatasetTest, BadMagicNumber) {
  writePlain(images_, {'P', 'N', 'G', 0x0a, 1, 2, 3});
  expectError(ErrorCode::kInvalidArgument, images_, "not an IDX file: its magic number is 50 4e 47 0a");
}

TEST_F(IdxDatasetTest, NoDimensions) {
  writePlain(images_, {0, 0, 8, 0});
  expectError(ErrorCode::kInvalidArgument, images_, "not an IDX file");
}

TEST_F(IdxDatasetTest, AnotherElementType) {
  writePlain(images_, idxHeader({5, 2, 3}, 0x0d));
  expectError(ErrorCode::kInvalidArgument, images_, "elements of type 0x0d; only 0x08 (unsigned byte)");
}

TEST_F(IdxDatasetTest, TrailingBytes) {
  Bytes bytes = idxFile({5, 2, 3});
  bytes.push_back(0);
  writePlain(images_, bytes);
  expectError(ErrorCode::kInvalidArgument, images_, "trailing bytes after elements (5 x 2 x 3)");
}

TEST_F(IdxDatasetTest, EmptyDimension) {
  writePlain(images_, idxHeader({5, 0, 3}));
  expectError(ErrorCode::kInvalidArgument, images_, "empty: its dimension 1 is 0");
}

TEST_F(IdxDatasetTest, CountsThatDiffer) {
  writePlain(labels_, idxFile({4}));
  expectError(ErrorCode::kInvalidArgument, images_, "has 5 elements but");
  expectError(ErrorCode::kInvalidArgument, labels_, "has 4");
}

TEST_F(IdxDatasetTest, SizesThatOverflow) {
  writePlain(images_, idxHeader({0xffffffff, 0xffffffff, 0xffffffff}));
  expectError(ErrorCode::kInvalidArgument, images_, "4294967295 x 4294967295 x 4294967295 elements overflow");
}

TEST_F(IdxDatasetTest, TerabytesInAHeaderOnly) {
  writePlain(images_, idxHeader({5, 0x100000, 0x100000}));
  expectError(ErrorCode::kDataLoss, images_, "truncated: expected 5497558138880 bytes");
}

}  // namespace
}  // namespace popdist::io
