// SPDX-License-Identifier: Apache-2.0
#include "common/contract/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/random.h"

namespace pop::contract {
namespace {

using ::testing::HasSubstr;

std::string u32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((value >> shift) & 0xff);
  return bytes;
}

// A frame with this body, whatever is in it.
std::string framed(const std::string& body) {
  return u32(static_cast<std::uint32_t>(body.size())) + body;
}

Frame randomFrame(SplitMix64& random) {
  Frame frame{static_cast<std::uint8_t>(random.below(256)), {}};
  for (std::uint64_t fields = random.below(6); fields > 0; --fields) {
    std::string field;
    for (std::uint64_t left = random.below(40); left > 0; --left)
      field += static_cast<char>(random.below(256));
    frame.fields.push_back(field);
  }
  return frame;
}

// All whole frames that the reader holds now.
std::vector<Frame> takeAll(FrameReader& reader) {
  std::vector<Frame> frames;
  while (true) {
    Result<std::optional<Frame>> next = reader.next();
    EXPECT_TRUE(next.ok()) << next.status().message();
    if (!next.ok() || !next->has_value()) return frames;
    frames.push_back(**next);
  }
}

Status errorOf(const std::string& bytes) {
  FrameReader reader;
  reader.append(bytes);
  return reader.next().status();
}

TEST(Frame, HasTheDocumentedLayout) {
  EXPECT_EQ(encode({7, {"ab", ""}}).value(), u32(15) + "\x07" + u32(2) + u32(2) + "ab" + u32(0));
  EXPECT_EQ(encode({255, {}}).value(), u32(5) + "\xff" + u32(0));
}

TEST(Frame, ComesBackAsItWasHoweverTheStreamIsCut) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SplitMix64 random(seed);
    const Frame frame = randomFrame(random);
    const std::string bytes = encode(frame).value();
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      FrameReader reader;
      reader.append(std::string_view(bytes).substr(0, cut));
      std::vector<Frame> frames = takeAll(reader);
      ASSERT_EQ(frames.size(), cut == bytes.size() ? 1U : 0U) << "seed " << seed << ", cut at " << cut;
      reader.append(std::string_view(bytes).substr(cut));
      if (frames.empty()) frames = takeAll(reader);
      ASSERT_EQ(frames, std::vector<Frame>{frame}) << "seed " << seed << ", cut at " << cut;
    }
  }
}

TEST(Frame, ComesBackByteByByte) {
  SplitMix64 random(9);
  std::vector<Frame> sent;
  std::vector<Frame> received;
  FrameReader reader;
  for (int round = 0; round < 20; ++round) {
    sent.push_back(randomFrame(random));
    const std::string bytes = encode(sent.back()).value();
    for (const char byte : bytes) {
      reader.append({&byte, 1});
      for (const Frame& frame : takeAll(reader)) received.push_back(frame);
    }
  }
  EXPECT_EQ(received, sent);
}

TEST(Frame, SeveralInOneReadComeOutInOrder) {
  SplitMix64 random(10);
  std::vector<Frame> sent;
  std::string stream;
  for (int count = 0; count < 50; ++count) {
    sent.push_back(randomFrame(random));
    stream += encode(sent.back()).value();
  }
  const std::string next = encode({1, {"next"}}).value();
  FrameReader reader;
  reader.append(stream + next.substr(0, 6));
  EXPECT_EQ(takeAll(reader), sent);
  reader.append(next.substr(6));
  EXPECT_EQ(takeAll(reader), (std::vector<Frame>{{1, {"next"}}}));
}

TEST(Frame, MalformedBytesAreDataLoss) {
  struct Case {
    const char* what;
    std::string bytes;
  };
  const Case cases[] = {
      {"shorter than any frame", framed("")},
      {"shorter than any frame", framed("1234")},
      {"more fields than its length allows", framed("\x01" + u32(1))},
      {"more fields than its length allows", framed("\x01" + u32(0xffffffff) + u32(0))},
      {"a field is longer than the frame", framed("\x01" + u32(1) + u32(5) + "1234")},
      {"a field is longer than the frame", framed("\x01" + u32(1) + u32(0xffffffff) + "1234")},
      {"it ends inside a field's length", framed("\x01" + u32(2) + u32(3) + "123" + "1")},
      {"bytes after its last field", framed("\x01" + u32(0) + "x")},
      {"bytes after its last field", framed("\x01" + u32(1) + u32(1) + "ab")},
  };
  for (const Case& each : cases) {
    const Status status = errorOf(each.bytes);
    EXPECT_EQ(status.code(), Code::kDataLoss) << each.what;
    EXPECT_THAT(status.message(), HasSubstr(each.what));
  }
}

TEST(Frame, AnErrorStaysAnError) {
  FrameReader reader;
  reader.append(framed("1234"));
  EXPECT_FALSE(reader.next().ok());
  reader.append(encode({1, {"fine"}}).value());
  EXPECT_FALSE(reader.next().ok()) << "a stream that is out of step must not seem to recover";
}

TEST(Frame, BeyondTheLimitIsRefusedBySenderAndReceiver) {
  const std::string field(kMaxFrameBytes - 9,
                          'x');  // with its length, the type and the number of fields: the limit
  const Result<std::string> largest = encode({1, {field}});
  ASSERT_TRUE(largest.ok());
  FrameReader reader;
  reader.append(largest.value());
  EXPECT_EQ(takeAll(reader).size(), 1U);

  const Result<std::string> larger = encode({1, {field + 'x'}});
  ASSERT_FALSE(larger.ok());
  EXPECT_EQ(larger.code(), Code::kResourceExhausted);
  EXPECT_EQ(larger.status().message(), "a message of 67108865 bytes exceeds the limit of 67108864 bytes");

  const Status refused = errorOf(u32(kMaxFrameBytes + 1));
  EXPECT_EQ(refused.code(), Code::kDataLoss) << "at once, not when all of it has come in";
  EXPECT_THAT(refused.message(), HasSubstr("longer than the limit"));
}

}  // namespace
}  // namespace pop::contract
