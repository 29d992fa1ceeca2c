// SPDX-License-Identifier: Apache-2.0
// The parser alone: how much it asks for, and that it takes any number of dimensions.
#include "libpopdist/data/formats/idx_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using ::testing::ElementsAre;
using testing::idxFile;
using testing::idxHeader;
using testing::MemorySource;

TEST(IdxArray, HeaderThatPromisesTerabytesGetsOneSmallBuffer) {
  MemorySource source("huge", idxHeader({0xffffffff, 0x10000}));
  EXPECT_EQ(readIdxArray(source).code(), pop::Code::kDataLoss);
  EXPECT_LE(source.largestRead(), 64U * 1024);
}

TEST(IdxArray, BuffersGrowOnlyWithWhatHasArrived) {
  testing::Bytes bytes = idxHeader({0xffffffff, 0x10000});
  bytes.resize(bytes.size() + 100'000);
  MemorySource source("huge", bytes);
  EXPECT_EQ(readIdxArray(source).code(), pop::Code::kDataLoss);
  EXPECT_LE(source.largestRead(), 100'000U);
}

TEST(IdxArray, KeepsShapeAndElements) {
  MemorySource source("four", idxFile({2, 1, 3, 1}));
  const auto array = readIdxArray(source);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_THAT(array.value().dims, ElementsAre(2, 1, 3, 1));
  EXPECT_THAT(array.value().values, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(IdxArray, ReadsTheMostDimensionsThatTheFormatHas) {
  MemorySource source("deep", idxFile(std::vector<std::uint32_t>(255, 1)));
  const auto array = readIdxArray(source);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array.value().dims.size(), 255U);
  EXPECT_THAT(array.value().values, ElementsAre(0));
}

}  // namespace
}  // namespace popdist::io
