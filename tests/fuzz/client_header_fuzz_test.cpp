// SPDX-License-Identifier: Apache-2.0
// Headers of passed-on connections that are damaged, cut or made up: none says who a client is. Seeded, so
// that a failure comes back.
#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"
#include "popdistd/net/client_header.h"

namespace pop::popdistd {
namespace {

constexpr std::uint64_t kClientHeaderRounds = 20'000;
const std::string kKey(32, 'k');

std::string noise(SplitMix64& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

ClientHeader validHeader(SplitMix64& random) {
  return {.client = {"10.0.0." + std::to_string(random.below(256)), static_cast<int>(random.below(65536))},
          .passer = random.next(),
          .number = random.next()};
}

void mutate(std::string& bytes, SplitMix64& random) {
  for (std::uint64_t times = 1 + random.below(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.erase(at, 1 + random.below(8));
        break;
      default:
        bytes.insert(at, noise(random, 1 + random.below(8)));
    }
  }
}

TEST(ClientHeaderFuzz, DamagedOnesAreRefused) {
  for (std::uint64_t round = 0; round < kClientHeaderRounds; ++round) {
    SplitMix64 random(round);
    const std::string whole = encodeClientHeader(validHeader(random), kKey);
    std::string bytes = whole;
    mutate(bytes, random);
    ASSERT_EQ(decodeClientHeader(bytes, kKey).ok(), bytes == whole) << "round " << round;
  }
}

TEST(ClientHeaderFuzz, NoiseIsRefusedAlsoAfterAGoodBeginning) {
  for (std::uint64_t round = 0; round < kClientHeaderRounds; ++round) {
    SplitMix64 random(~round);
    const std::string whole = encodeClientHeader(validHeader(random), kKey);
    const std::size_t kept = random.below(whole.size());
    const std::string bytes = whole.substr(0, kept) + noise(random, random.below(2 * kClientHeaderBytes));
    if (bytes == whole) continue;
    ASSERT_FALSE(decodeClientHeader(bytes, kKey).ok()) << "round " << round;
  }
}

TEST(ClientHeaderFuzz, UndamagedOnesComeOutWhole) {
  for (std::uint64_t round = 0; round < kClientHeaderRounds; ++round) {
    SplitMix64 random(round);
    const ClientHeader header = validHeader(random);
    const auto decoded = decodeClientHeader(encodeClientHeader(header, kKey), kKey);
    ASSERT_TRUE(decoded.ok()) << "round " << round;
    ASSERT_EQ(decoded.value(), header) << "round " << round;
  }
}

}  // namespace
}  // namespace pop::popdistd
