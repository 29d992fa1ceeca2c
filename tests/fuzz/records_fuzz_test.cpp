// SPDX-License-Identifier: Apache-2.0
// Damaged files of records: whatever the bytes, the answer is an error or records that lie within the file.
// Seeded, so that a failure comes back; the message names its round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

#include "common/base/random.h"
#include "libpopdist/data/formats/records.h"
#include "libpopdist/data/tensor/spec.h"
#include "tests/testing/temp_dir.h"

namespace popdist::io {
namespace {

constexpr int kRecordsRounds = 3'000;

std::string validFile(pop::SplitMix64& random) {
  RecordsHeader header;
  header.elements = random.below(4);
  for (std::uint64_t tensor = 0; tensor <= random.below(3); ++tensor) {
    Shape shape;
    for (std::uint64_t dimensions = random.below(3); dimensions > 0; --dimensions)
      shape.push_back(1 + random.below(5));
    header.spec.push_back({"tensor " + std::to_string(tensor), static_cast<Type>(random.below(13)), shape});
  }
  if (random.below(2) == 0) header.checksums = 17;
  std::string bytes = textOf(header).value();
  bytes.resize(4096);
  bytes.append(header.elements * header.storedBytes(), 'x');
  return bytes;
}

/// Most of it in the header, where it matters.
void damage(std::string& bytes, pop::SplitMix64& random) {
  constexpr const char* kNasty[] = {"0",     "-1", "18446744073709551615", "4294967296", ",", " ", "\n",
                                    "end\n", ""};
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at =
        random.below(random.below(4) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 120));
    switch (random.below(4)) {
      case 0:
        bytes.resize(random.below(bytes.size()));
        break;
      case 1:
        bytes.replace(at, 1 + random.below(3), kNasty[random.below(std::size(kNasty))]);
        break;
      case 2:
        bytes.append(1 + random.below(40), 'y');
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(7)));
    }
  }
}

TEST(RecordsFuzz, DamagedFilesAreAnErrorOrLieWithinTheFile) {
  pop::SplitMix64 random(20261126);
  const pop::testing::TempDir dir;
  const std::string path = (dir / "data").string();
  int accepted = 0;
  for (int round = 0; round < kRecordsRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::string bytes = validFile(random);
    if (random.below(8) != 0) damage(bytes, random);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const pop::Result<RecordFile> file = RecordFile::open(path);
    if (!file.ok()) {
      ASSERT_FALSE(file.status().message().empty());
      continue;
    }
    ++accepted;
    const RecordsHeader& header = file.value().header();
    ASSERT_EQ(bytes.size() % 4096, header.elements * header.storedBytes() % 4096);
    unsigned sum = 0;  // the sanitizer would see a read beyond the mapping's last page
    if (header.elements > 0) {
      const std::byte* last = file.value().record(header.elements - 1);
      for (std::size_t i = 0; i < tensor::bytesOf(header.spec); ++i)
        sum += std::to_integer<unsigned>(last[i]);
    }
    ASSERT_LE(sum, 255U * bytes.size());
  }
  EXPECT_GT(accepted, kRecordsRounds / 20);
  EXPECT_LT(accepted, kRecordsRounds * 3 / 4);
}

}  // namespace
}  // namespace popdist::io
