// SPDX-License-Identifier: Apache-2.0
// IdxDataset on real files: what it reads, and what it says about files it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>

#include "popdist/error.hpp"
#include "popdist/io.hpp"
#include "tests/unit/libpopdist/io/idx_files.h"

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

class IdxDatasetTest : public ::testing::Test {
 protected:
  IdxDatasetTest() {
    writePlain(images_, idxFile({5, 2, 3}));
    writePlain(labels_, idxFile({5}));
  }

  /// Opens both files and expects it to fail with `code` and a message that has `file` and `cause` in it.
  void expectError(ErrorCode code, const std::filesystem::path& file, const std::string& cause) {
    try {
      const IdxDataset dataset(images_, labels_);
      ADD_FAILURE() << "expected an error: " << cause;
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr("IdxDataset"), HasSubstr(file.string()), HasSubstr(cause)));
      EXPECT_EQ(error.operation(), "IdxDataset");
    }
  }

  testing::TempDir dir_;
  std::filesystem::path images_ = dir_ / "images";
  std::filesystem::path labels_ = dir_ / "labels";
};

TEST_F(IdxDatasetTest, ReadsPlainFiles) {
  const IdxDataset dataset(images_, labels_);
  EXPECT_EQ(dataset.size(), 5U);
  EXPECT_EQ(dataset.featureCount(), 6U);
  EXPECT_THAT(dataset.sampleShape(), ElementsAre(2, 3));
  EXPECT_THAT(dataset.image(2), ElementsAre(12, 13, 14, 15, 16, 17));
}

TEST_F(IdxDatasetTest, GzipAndPlainFilesGiveTheSameSamples) {
  writeGzip(dir_ / "images.gz", idxFile({300, 9, 31}));  // more than one chunk of the reader
  writeGzip(dir_ / "labels.gz", idxFile({300}));
  writePlain(images_, idxFile({300, 9, 31}));
  writePlain(labels_, idxFile({300}));
  const IdxDataset plain(images_, labels_);
  const IdxDataset gzip(dir_ / "images.gz", dir_ / "labels.gz");
  ASSERT_EQ(gzip.size(), 300U);
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(std::ranges::equal(plain.image(i), gzip.image(i))) << i;
    ASSERT_EQ(gzip.image(i)[0], i * 9 * 31 % 251);
  }
}

TEST_F(IdxDatasetTest, NormalisesBytesToZeroToOne) {
  Bytes bytes = idxHeader({1, 1, 4});
  bytes.insert(bytes.end(), {0, 1, 51, 255});
  writePlain(images_, bytes);
  Bytes label = idxHeader({1});
  label.push_back(200);
  writePlain(labels_, label);
  std::vector<float> features(4, -1.0F);
  std::int32_t label_read = -1;
  IdxDataset(images_, labels_).read(0, features, label_read);
  EXPECT_THAT(features, ElementsAre(0.0F, 1.0F / 255.0F, 0.2F, 1.0F));
  EXPECT_EQ(label_read, 200);
}

TEST_F(IdxDatasetTest, RefusesASampleOrABufferThatDoesNotFit) {
  const IdxDataset dataset(images_, labels_);
  std::vector<float> features(6);
  std::int32_t label = 0;
  const auto codeOf = [&](std::size_t sample, std::span<float> into) {
    try {
      dataset.read(sample, into, label);
    } catch (const popdist_error& error) {
      return error.code();
    }
    return ErrorCode::kUnknown;
  };
  EXPECT_EQ(codeOf(5, features), ErrorCode::kOutOfRange);
  EXPECT_EQ(codeOf(0, std::span(features).first(5)), ErrorCode::kInvalidArgument);
  EXPECT_THROW(dataset.image(5), popdist_error);
}

TEST_F(IdxDatasetTest, MissingFile) {
  images_ = dir_ / "absent";
  expectError(ErrorCode::kNotFound, images_, "No such file or directory");
}

TEST_F(IdxDatasetTest, DirectoryInsteadOfFile) {
  std::filesystem::remove(images_);
  std::filesystem::create_directory(images_);
  expectError(ErrorCode::kInvalidArgument, images_, "Is a directory");
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
  expectError(ErrorCode::kInvalidArgument, images_, "has 5 images but");
  expectError(ErrorCode::kInvalidArgument, labels_, "has 4 labels");
}

TEST_F(IdxDatasetTest, ImagesAndLabelsSwapped) {
  std::swap(images_, labels_);
  expectError(ErrorCode::kInvalidArgument, labels_,
              "not a file of labels: expected 1 dimension, got 3 (5 x 2 x 3)");
}

TEST_F(IdxDatasetTest, LabelsGivenTwice) {
  images_ = labels_;
  expectError(ErrorCode::kInvalidArgument, images_,
              "not a file of images: expected 2 or more dimensions, got 1");
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
