// SPDX-License-Identifier: Apache-2.0
// Damaged heads of safetensors files: whatever the bytes, the answer is an error or tensors that fill the
// file one behind the other. Seeded, so that a failure comes back; the message names its round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "common/base/random.h"
#include "libpopdist/train/checkpoint/safetensors.h"

namespace popdist::train {
namespace {

constexpr int kSafetensorsRounds = 20'000;

Spec validSpec(pop::SplitMix64& random) {
  Spec spec;
  for (std::uint64_t tensor = random.below(4); tensor > 0; --tensor) {
    Shape shape;
    for (std::uint64_t dimensions = random.below(3); dimensions > 0; --dimensions)
      shape.push_back(random.below(5));
    spec.push_back({"tensor " + std::to_string(tensor), static_cast<Type>(random.below(13)), shape});
  }
  return spec;
}

void damage(std::string& bytes, pop::SplitMix64& random) {
  constexpr const char* kNasty[] = {"0",
                                    "-1",
                                    "18446744073709551615",
                                    "4611686018427387904",
                                    ",",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    "\"",
                                    "\"data_offsets\"",
                                    " ",
                                    "1",
                                    ""};
  const std::size_t text = std::min<std::size_t>(bytes.find_last_not_of(' ') + 1, bytes.size());
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random.below(std::max<std::size_t>(1, std::min(text, bytes.size())));
    switch (random.below(4)) {
      case 0:
        bytes.resize(random.below(bytes.size()));
        break;
      case 1:
        bytes.replace(at, random.below(3), kNasty[random.below(std::size(kNasty))]);
        break;
      case 2:
        bytes[at] = static_cast<char>('0' + random.below(10));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    }
  }
}

/// The length in front is made right again, so that the JSON is looked at.
void repairLength(std::string& bytes) {
  if (bytes.size() < 8) return;
  const std::uint64_t length = bytes.size() - 8;
  std::memcpy(bytes.data(), &length, sizeof length);
}

TEST(SafetensorsFuzz, DamagedHeadsAreAnErrorOrFillTheFile) {
  pop::SplitMix64 random(20261126);
  int accepted = 0;
  for (int round = 0; round < kSafetensorsRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Spec spec = validSpec(random);
    std::string bytes = safetensorsHeader(spec).value();
    std::uint64_t data = 0;
    for (const TensorSpec& tensor : spec) data += tensor.bytes();
    if (random.below(8) != 0) damage(bytes, random);
    if (random.below(3) != 0) repairLength(bytes);
    const std::uint64_t file_bytes = bytes.size() + data;
    const auto read = parseSafetensors(bytes, file_bytes);
    if (!read.ok()) {
      ASSERT_EQ(read.code(), pop::Code::kDataLoss);
      ASSERT_FALSE(read.status().message().empty());
      continue;
    }
    ++accepted;
    std::uint64_t at = safetensorsHeaderBytes(bytes, file_bytes).value();
    for (const StoredTensor& tensor : read.value()) {
      ASSERT_EQ(tensor.begin, at);
      at += tensor.spec.bytes();
    }
    ASSERT_EQ(at, file_bytes);
  }
  EXPECT_GT(accepted, kSafetensorsRounds / 20);
  EXPECT_LT(accepted, kSafetensorsRounds * 3 / 4);
}

}  // namespace
}  // namespace popdist::train
