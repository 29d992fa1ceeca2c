// SPDX-License-Identifier: Apache-2.0
#include "runner/store/frame.h"

#include <gtest/gtest.h>

#include <string>

namespace pop::runner {
namespace {

std::string frameOf(std::uint64_t sequence, std::string_view body) {
  std::string bytes;
  writeFrame({.sequence = sequence, .output_before = 7, .kind = RecordKind::kOutput, .body = body}, bytes);
  return bytes;
}

TEST(Frame, ComesBackAsItWasWritten) {
  const std::string bytes = frameOf(5, "hello");
  ASSERT_EQ(bytes.size(), kFrameHeaderBytes + 5);
  const std::string with_more = bytes + "more";
  const ParsedFrame parsed = parseFrame(with_more);
  ASSERT_EQ(parsed.state, FrameState::kWhole);
  EXPECT_EQ(parsed.frame.sequence, 5u);
  EXPECT_EQ(parsed.frame.output_before, 7u);
  EXPECT_EQ(parsed.frame.outputAfter(), 12u);
  EXPECT_EQ(parsed.frame.kind, RecordKind::kOutput);
  EXPECT_EQ(parsed.frame.body, "hello");
}

TEST(Frame, IsShortWhereverItIsCut) {
  const std::string bytes = frameOf(5, "hello");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const ParsedFrame parsed = parseFrame(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(parsed.state, FrameState::kShort) << size;
    EXPECT_EQ(parsed.needed, size < kFrameHeaderBytes ? kFrameHeaderBytes : bytes.size()) << size;
  }
}

TEST(Frame, IsDamagedWithAnyByteChangedAndBytesBehindIt) {
  const std::string whole = frameOf(5, "hello");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole + "more";
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    EXPECT_EQ(parseFrame(bytes).state, FrameState::kDamaged) << at;
  }
}

TEST(Frame, WhoseBodyIsWrongAtTheEndIsShort) {
  std::string bytes = frameOf(5, "hello");
  bytes.back() = 'x';
  EXPECT_EQ(parseFrame(bytes).state, FrameState::kShort);
}

TEST(Frame, OfZerosIsShort) {
  EXPECT_EQ(parseFrame(std::string(1000, '\0')).state, FrameState::kShort);
}

TEST(Frame, WithNumbersThatNoWriterReachesIsDamaged) {
  for (const std::uint64_t sequence : {std::uint64_t{0}, UINT64_MAX, std::uint64_t{1} << 60})
    EXPECT_EQ(parseFrame(frameOf(sequence, "hello")).state, FrameState::kDamaged) << sequence;
}

}  // namespace
}  // namespace pop::runner
