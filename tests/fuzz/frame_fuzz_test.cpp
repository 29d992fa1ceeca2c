// SPDX-License-Identifier: Apache-2.0
// Damaged frames: whatever the bytes and however they are cut, the reader gives whole frames or an error, and
// never takes more memory than the bytes it was given could justify. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/base/random.h"
#include "common/contract/frame.h"
#include "tests/testing/allocation_peak.h"

namespace pop::contract {
namespace {

constexpr std::uint64_t kFrameRounds = 50'000;

// An empty field takes 4 bytes of a frame and sizeof(std::string) in memory: the worst exchange rate there
// is. As much again for the reader's buffer, which may be twice as large as what is in it, and for the frame
// on its way out.
constexpr std::size_t kMostBytesPerByte = 2 * sizeof(std::string) / 4;
constexpr std::size_t kMostBytesAtRest = 1024;

std::string validStream(SplitMix64& random) {
  std::string stream;
  for (std::uint64_t frames = 1 + random.below(4); frames > 0; --frames) {
    Frame frame{static_cast<std::uint8_t>(random.below(256)), {}};
    for (std::uint64_t fields = random.below(5); fields > 0; --fields) {
      frame.fields.emplace_back(random.below(20), static_cast<char>(random.below(256)));
    }
    stream += encode(frame).value();
  }
  return stream;
}

// Overwrites four bytes with a number that tends to break arithmetic.
void setNastyNumber(std::string& bytes, SplitMix64& random) {
  constexpr std::uint32_t kNasty[] = {0,          1,          4,          5,          6,
                                      0x7fffffff, 0x80000000, 0xfffffffb, 0xffffffff, 64 << 20};
  const std::uint32_t value = kNasty[random.below(std::size(kNasty))];
  const std::size_t at = random.below(bytes.size());
  for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<char>(value >> (8 * i));
}

void mutate(std::string& bytes, SplitMix64& random) {
  for (std::uint64_t times = random.below(4); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        setNastyNumber(bytes, random);
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, 1 + random.below(8));
        break;
      default:
        bytes.insert(at, 1 + random.below(8), static_cast<char>(random.below(256)));
    }
  }
}

// Feeds `bytes` in random pieces; returns how many bytes came out again in whole frames.
std::size_t readAll(const std::string& bytes, SplitMix64& random) {
  FrameReader reader;
  std::size_t accounted_for = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t piece = std::min<std::size_t>(1 + random.below(64), bytes.size() - at);
    reader.append(std::string_view(bytes).substr(at, piece));
    at += piece;
    while (true) {
      Result<std::optional<Frame>> next = reader.next();
      if (!next.ok()) {
        EXPECT_EQ(next.code(), Code::kDataLoss);
        EXPECT_FALSE(reader.next().ok()) << "a stream that is out of step stays so";
        return accounted_for;
      }
      if (!next->has_value()) break;
      accounted_for += encode(**next).value().size();
    }
  }
  return accounted_for;
}

TEST(FrameFuzz, DamagedStreamsGiveFramesOrAnError) {
  for (std::uint64_t round = 0; round < kFrameRounds; ++round) {
    SplitMix64 random(round);
    std::string bytes = validStream(random);
    mutate(bytes, random);
    const testing::AllocationPeak peak;
    const std::size_t accounted_for = readAll(bytes, random);
    ASSERT_LE(accounted_for, bytes.size()) << "round " << round << ": more came out than went in";
    ASSERT_LE(peak.bytes(), kMostBytesAtRest + kMostBytesPerByte * bytes.size()) << "round " << round;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(FrameFuzz, NoiseGivesFramesOrAnError) {
  for (std::uint64_t round = 0; round < kFrameRounds; ++round) {
    SplitMix64 random(~round);
    std::string bytes(random.below(200), '\0');
    for (char& byte : bytes) byte = random.below(3) == 0 ? static_cast<char>(random.below(256)) : '\0';
    const testing::AllocationPeak peak;
    static_cast<void>(readAll(bytes, random));
    ASSERT_LE(peak.bytes(), kMostBytesAtRest + kMostBytesPerByte * bytes.size()) << "round " << round;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(FrameFuzz, AnUndamagedStreamComesOutWhole) {
  for (std::uint64_t round = 0; round < 2000; ++round) {
    SplitMix64 random(round);
    const std::string bytes = validStream(random);
    ASSERT_EQ(readAll(bytes, random), bytes.size()) << "round " << round;
  }
}

}  // namespace
}  // namespace pop::contract
