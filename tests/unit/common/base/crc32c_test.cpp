// SPDX-License-Identifier: Apache-2.0
#include "common/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/base/random.h"

namespace pop {
namespace {

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Crc32c, IsThatOfTheStandards) {
  EXPECT_EQ(crc32c(bytesOf("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(bytesOf(std::string(32, '\0'))), 0x8a9136aaU);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(bytesOf(std::string(32, '\xff'))), 0x62a8ab43U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, InstructionAndTablesAgreeOnEveryLengthAndAlignment) {
  SplitMix64 random(1);
  std::vector<std::byte> bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t length = 0; from + length < 100; ++length) {
      const auto part = std::span(bytes).subspan(from, length);
      ASSERT_EQ(crc32c(part), crc32cByTables(part)) << from << ' ' << length;
    }
  }
}

TEST(Crc32c, GoesOnFromWhatCameBefore) {
  const std::string_view text = "a text that is cut in two";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(bytesOf(text.substr(cut)), crc32c(bytesOf(text.substr(0, cut)))), crc32c(bytesOf(text)));
    EXPECT_EQ(crc32cByTables(bytesOf(text.substr(cut)), crc32c(bytesOf(text.substr(0, cut)))),
              crc32c(bytesOf(text)));
  }
}

}  // namespace
}  // namespace pop
