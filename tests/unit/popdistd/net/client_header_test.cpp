// SPDX-License-Identifier: Apache-2.0
#include "popdistd/net/client_header.h"

#include <gtest/gtest.h>

#include "tests/unit/popdistd/net/samples.h"

namespace pop::popdistd {
namespace {

ClientHeader headerOf(const std::string& address) {
  return {.client = {address, 50123}, .passer = 0xfedcba9876543210, .number = 7};
}

// By the protocol's own document, and not by our code.
TEST(ClientHeader, IsOneOfTheProxyProtocol) {
  const std::string bytes = encodeClientHeader(headerOf("10.1.2.3"), kKey);
  const std::string expected(
      "\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a"
      "\x21\x21\x00\x57"
      "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x01\x02\x03"
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "\xc3\xcb\x00\x00"
      "\xe0\x00\x30",
      55);
  EXPECT_EQ(bytes.substr(0, expected.size()), expected);
  EXPECT_EQ(bytes.size(), kClientHeaderBytes);
}

TEST(ClientHeader, SaysWhoTheClientIs) {
  for (const char* const address : {"10.1.2.3", "127.0.0.2", "fd00::1", "::1"}) {
    const auto decoded = decodeClientHeader(encodeClientHeader(headerOf(address), kKey), kKey);
    ASSERT_TRUE(decoded.ok()) << address << ": " << decoded.status().message();
    EXPECT_EQ(decoded.value(), headerOf(address));
  }
  EXPECT_EQ(
      decodeClientHeader(encodeClientHeader(headerOf("fe80::1%eth0"), kKey), kKey).value().client.address,
      "::");
}

TEST(ClientHeader, ByAnotherKeyIsRefused) {
  const std::string bytes = encodeClientHeader(headerOf("10.1.2.3"), kKey);
  EXPECT_EQ(decodeClientHeader(bytes, std::string(32, 'x')).code(), Code::kPermissionDenied);
  EXPECT_EQ(decodeClientHeader(bytes, "").code(), Code::kPermissionDenied);
}

TEST(ClientHeader, OfAnotherLengthIsRefused) {
  const std::string bytes = encodeClientHeader(headerOf("10.1.2.3"), kKey);
  for (std::size_t count = 0; count < bytes.size(); ++count)
    EXPECT_EQ(decodeClientHeader(bytes.substr(0, count), kKey).code(), Code::kDataLoss);
  EXPECT_EQ(decodeClientHeader(bytes + 'x', kKey).code(), Code::kDataLoss);
}

TEST(ClientHeader, WithAnyChangedBitIsRefused) {
  const std::string bytes = encodeClientHeader(headerOf("10.1.2.3"), kKey);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decodeClientHeader(changed, kKey).ok()) << bit;
  }
}

}  // namespace
}  // namespace pop::popdistd
