// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/siphash.h"

#include <bit>
#include <cstdint>

namespace popdist::transport {
namespace {

std::uint64_t readLittleEndian(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }

  std::uint64_t finish() {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

Tag sipHash(const Key& key, std::span<const std::byte> message) {
  const std::uint64_t k0 = readLittleEndian(std::span(key).first(8));
  const std::uint64_t k1 = readLittleEndian(std::span(key).last(8));
  State state{k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU ^ 0xee, k0 ^ 0x6c7967656e657261U,
              k1 ^ 0x7465646279746573U};
  const std::uint64_t last_byte = static_cast<std::uint64_t>(message.size()) << 56;
  for (; message.size() >= 8; message = message.subspan(8)) state.take(readLittleEndian(message.first(8)));
  state.take(last_byte | readLittleEndian(message));

  Tag tag;
  state.v2 ^= 0xee;
  for (std::size_t half = 0; half < 2; ++half) {
    if (half == 1) state.v1 ^= 0xdd;
    const std::uint64_t word = state.finish();
    for (std::size_t i = 0; i < 8; ++i) tag[8 * half + i] = static_cast<std::byte>(word >> (8 * i));
  }
  return tag;
}

bool sameTag(std::span<const std::byte, 16> one, std::span<const std::byte, 16> other) {
  std::byte difference{0};
  for (std::size_t i = 0; i < one.size(); ++i) difference |= one[i] ^ other[i];
  return difference == std::byte{0};
}

}  // namespace popdist::transport
