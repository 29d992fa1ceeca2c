// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/crc32c.h"

namespace popdist::train {
namespace {

Manifest example() {
  return {.position = {.step = UINT64_MAX,
                       .epoch = 3,
                       .samples = 640,
                       .seed = 9007199254740993,
                       .values = {{"loss_scale", "65536"}, {"isa", "avx512 \"fast\""}}},
          .files = {{.name = shardName(0, 2),
                     .bytes = kBlockBytes + 1,
                     .block_crcs = {1, UINT32_MAX},
                     .parts = {{{"w", Type::kFloat, {4, 2}}, 0, 5}}},
                    {.name = shardName(1, 2), .bytes = 0, .block_crcs = {}, .parts = {}}}};
}

/// `text` with other contents, and a right checksum.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = textOf(example());
  text = text.substr(0, text.rfind(",\"manifest_crc32c\""));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto crc = pop::crc32c(std::as_bytes(std::span(text.data(), text.size())));
  return text + ",\"manifest_crc32c\":" + std::to_string(crc) + "}\n";
}

TEST(Manifest, IsReadAsItWasWritten) {
  const auto read = parseManifest(textOf(example()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value(), example());
  EXPECT_EQ(shardName(3, 4), "shard-00003-of-00004.safetensors");
}

TEST(Manifest, EveryByteAndEveryLengthIsChecked) {
  const std::string text = textOf(example());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_EQ(parseManifest(damaged).code(), pop::Code::kDataLoss) << at;
    EXPECT_EQ(parseManifest(text.substr(0, at)).code(), pop::Code::kDataLoss) << at;
  }
  EXPECT_FALSE(parseManifest(text + " ").ok());
}

TEST(Manifest, ContradictionsAreNamed) {
  using ::testing::HasSubstr;
  const auto error = [](const std::string& from, const std::string& to) {
    return parseManifest(changed(from, to)).status().message();
  };
  EXPECT_EQ(error("\"epoch\":3", "\"epoch\":4"), "");
  EXPECT_THAT(error("\"version\":1", "\"version\":2"), HasSubstr("later version"));
  EXPECT_THAT(error("popdist checkpoint", "another"), HasSubstr("something else"));
  EXPECT_THAT(error("\"epoch\":3", "\"epoch\":-3"), HasSubstr("position"));
  EXPECT_THAT(error("shard-00000", "../rd-00000"), HasSubstr("name"));
  EXPECT_THAT(error("[1,4294967295]", "[1]"), HasSubstr("1 checksums"));
  EXPECT_THAT(error("[1,4294967295]", "[1,4294967296]"), HasSubstr("checksum"));
  EXPECT_THAT(error("\"elements\":5", "\"elements\":9"), HasSubstr("over the end of the tensor w"));
  EXPECT_THAT(error("\"F32\"", "\"F99\""), HasSubstr("F99"));
}

}  // namespace
}  // namespace popdist::train
