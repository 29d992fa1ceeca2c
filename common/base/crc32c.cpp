// SPDX-License-Identifier: Apache-2.0
#include "common/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pop {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected
using Table = std::array<std::uint32_t, 256>;

// kTables[k][b] is the checksum of the byte b with k zero bytes behind it, so that eight bytes take one turn.
constexpr std::array<Table, 8> makeTables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8U) ^ tables[0][tables[k - 1][byte] & 0xffU];
  return tables;
}
constexpr std::array<Table, 8> kTables = makeTables();

std::uint64_t loadWord(const std::byte* from) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return word;
}

#if defined(__x86_64__)
// The instruction begins one word a cycle and takes three: three lanes side by side.
constexpr std::size_t kLaneBytes = 256;
// So many blocks before they are copied, cache lines are fetched: the loop would wait for each of them.
constexpr std::size_t kAheadBytes = 4 * 3 * kLaneBytes;
constexpr std::size_t kCacheLineBytes = 64;
using Shift = std::array<Table, 4>;

/// Effect of kLaneBytes zero bytes on each byte of a checksum's state; those of all four are added.
constexpr Shift makeShift() {
  std::array<std::uint32_t, 32> of_bit{};
  for (std::size_t bit = 0; bit < of_bit.size(); ++bit) {
    std::uint32_t state = 1U << bit;
    for (std::size_t n = 0; n < kLaneBytes; ++n) state = (state >> 8U) ^ kTables[0][state & 0xffU];
    of_bit[bit] = state;
  }
  Shift shift{};
  for (std::size_t bit = 0; bit < of_bit.size(); ++bit)
    for (std::size_t byte = 0; byte < 256; ++byte)
      if ((byte >> bit % 8 & 1U) != 0) shift[bit / 8][byte] ^= of_bit[bit];
  return shift;
}
constexpr Shift kShift = makeShift();

std::uint64_t shifted(std::uint64_t state) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) result ^= kShift[i][state >> (8 * i) & 0xffU];
  return result;
}

/// Adds the word `at` bytes behind `from`, which goes to the same place behind `to`, too, if `copies`.
template <bool copies>
__attribute__((target("sse4.2"))) std::uint64_t addWord(std::uint64_t state, const std::byte* from,
                                                        std::byte* to, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, from + at, sizeof word);
  if constexpr (copies) std::memcpy(to + at, &word, sizeof word);
  return _mm_crc32_u64(state, word);
}

template <bool copies>
__attribute__((target("sse4.2"))) std::uint32_t crc32cByInstruction(std::span<const std::byte> bytes,
                                                                    std::uint32_t before, std::byte* to) {
  const auto next = [&](std::size_t count) {
    bytes = bytes.subspan(count);
    if constexpr (copies) to += count;
  };
  std::uint64_t crc = ~before;
  for (; bytes.size() >= 3 * kLaneBytes; next(3 * kLaneBytes)) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    const std::byte* from = bytes.data();
    if constexpr (copies) {
      if (bytes.size() > kAheadBytes)
        for (std::size_t at = 0; at != 3 * kLaneBytes; at += kCacheLineBytes)
          __builtin_prefetch(from + kAheadBytes + at);
    }
    for (std::size_t at = 0; at != kLaneBytes; at += 8) {
      crc = addWord<copies>(crc, from, to, at);
      second = addWord<copies>(second, from, to, kLaneBytes + at);
      third = addWord<copies>(third, from, to, 2 * kLaneBytes + at);
    }
    crc = shifted(shifted(crc) ^ second) ^ third;
  }
  for (; bytes.size() >= 8; next(8)) crc = addWord<copies>(crc, bytes.data(), to, 0);
  auto rest = static_cast<std::uint32_t>(crc);
  for (; !bytes.empty(); next(1)) {
    const std::byte byte = bytes.front();
    if constexpr (copies) *to = byte;
    rest = _mm_crc32_u8(rest, std::to_integer<unsigned char>(byte));
  }
  return ~rest;
}

bool hasInstruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

}  // namespace

std::uint32_t crc32cByTables(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t word = loadWord(bytes.data()) ^ crc;
    crc = 0;
    for (unsigned i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xffU];
  }
  for (const std::byte byte : bytes)
    crc = (crc >> 8U) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xffU];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (hasInstruction()) return crc32cByInstruction<false>(bytes, before, nullptr);
#endif
  return crc32cByTables(bytes, before);
}

std::uint32_t copyWithCrc32c(std::byte* to, std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (hasInstruction()) return crc32cByInstruction<true>(bytes, before, to);
#endif
  std::memcpy(to, bytes.data(), bytes.size());
  return crc32cByTables({to, bytes.size()}, before);
}

}  // namespace pop
