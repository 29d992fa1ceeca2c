// SPDX-License-Identifier: Apache-2.0
// Damaged IDX files: whatever the bytes, the answer is an error or data whose sizes agree. Seeded, so that a
// failure comes back; the message names its round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/data/formats/gzip_source.h"
#include "libpopdist/data/formats/idx_array.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using testing::Bytes;
using testing::idxFile;
using testing::MemorySource;

constexpr int kIdxRounds = 20'000;
constexpr int kGzipRounds = 1'000;

Bytes validFile(pop::SplitMix64& random, bool images, std::uint32_t samples) {
  std::vector<std::uint32_t> dims{samples};
  if (images) {
    for (std::uint64_t extra = 1 + random.below(3); extra > 0; --extra) {
      dims.push_back(static_cast<std::uint32_t>(1 + random.below(6)));
    }
  }
  return idxFile(dims);
}

void flipBit(Bytes& bytes, pop::SplitMix64& random) {
  // Half of all flips hit the header, where they matter most.
  const std::size_t reach = random.below(2) == 0 ? std::min<std::size_t>(bytes.size(), 20) : bytes.size();
  bytes[random.below(reach)] ^= static_cast<std::uint8_t>(1U << random.below(8));
}

/// Overwrites one size of the header with a value that tends to break arithmetic.
void setLengthField(Bytes& bytes, pop::SplitMix64& random) {
  constexpr std::uint32_t kNasty[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x10000};
  const std::size_t at = 4 + 4 * random.below(4);
  const std::uint32_t value = kNasty[random.below(std::size(kNasty))];
  for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  }
}

void mutate(Bytes& bytes, pop::SplitMix64& random) {
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
    switch (random.below(5)) {
      case 0:
        bytes.resize(random.below(bytes.size()));
        break;
      case 1:
        bytes.insert(bytes.end(), 1 + random.below(40), static_cast<std::uint8_t>(random.next()));
        break;
      case 2:
        setLengthField(bytes, random);
        break;
      default:
        flipBit(bytes, random);
    }
  }
}

void expectSizesAgree(const IdxArray& array) {
  std::size_t count = 1;
  for (const std::size_t dim : array.dims) count *= dim;
  ASSERT_EQ(array.values.size(), count);
}

void expectErrorOrAgreement(const pop::Result<IdxArray>& array) {
  if (!array.ok()) {
    EXPECT_FALSE(array.status().message().empty());
    return;
  }
  expectSizesAgree(array.value());
}

TEST(IdxFuzz, MutatedFilesAreAnErrorOrSizesThatAgree) {
  pop::SplitMix64 random(20240229);
  int accepted = 0;
  for (int round = 0; round < kIdxRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto samples = static_cast<std::uint32_t>(1 + random.below(20));
    Bytes file = validFile(random, random.below(4) != 0, samples);
    mutate(file, random);
    MemorySource source("file", file);
    const pop::Result<IdxArray> array = readIdxArray(source);
    accepted += array.ok() ? 1 : 0;
    expectErrorOrAgreement(array);
    ASSERT_LE(source.largestRead(), 64U * 1024);
    if (HasFatalFailure()) return;
  }
  // Flips in elements are harmless: both outcomes must have been met, or the mutations are too weak or too
  // strong.
  EXPECT_GT(accepted, kIdxRounds / 100);
  EXPECT_LT(accepted, kIdxRounds / 2);
}

TEST(IdxFuzz, MutatedGzipFilesAreAnErrorOrSizesThatAgree) {
  pop::SplitMix64 random(19521101);
  const testing::TempDir dir;
  testing::writeGzip(dir / "images", idxFile({50, 3, 3}));
  const Bytes valid = testing::readAll(dir / "images");
  for (int round = 0; round < kGzipRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Bytes bytes = valid;
    mutate(bytes, random);
    testing::writePlain(dir / "images", bytes);
    auto images = GzipSource::open((dir / "images").string());
    ASSERT_TRUE(images.ok());
    expectErrorOrAgreement(readIdxArray(*images));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace popdist::io
