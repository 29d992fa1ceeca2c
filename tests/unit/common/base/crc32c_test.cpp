// SPDX-License-Identifier: Apache-2.0
#include "common/base/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
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

class Crc32cOfRandomBytes : public ::testing::Test {
 protected:
  Crc32cOfRandomBytes() {
    SplitMix64 random(1);
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random.below(256));
  }

  std::vector<std::byte> bytes_ = std::vector<std::byte>(2000);
};

TEST_F(Crc32cOfRandomBytes, InstructionAndTablesAgreeOnEveryLengthAndAlignment) {
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t length = 0; from + length < bytes_.size(); ++length) {
      const auto part = std::span(bytes_).subspan(from, length);
      ASSERT_EQ(crc32c(part), crc32cByTables(part)) << from << ' ' << length;
    }
  }
}

TEST_F(Crc32cOfRandomBytes, ACopyIsWholeAndHasTheSameChecksum) {
  for (std::size_t length = 0; length < bytes_.size() - 3; ++length) {
    const auto part = std::span(bytes_).subspan(length % 3, length);
    std::vector<std::byte> copy(length + 1, std::byte{0x5a});
    ASSERT_EQ(copyWithCrc32c(copy.data(), part, 7), crc32cByTables(part, 7)) << length;
    ASSERT_TRUE(std::equal(part.begin(), part.end(), copy.begin())) << length;
    ASSERT_EQ(copy.back(), std::byte{0x5a}) << length;
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
