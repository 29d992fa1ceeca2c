// SPDX-License-Identifier: Apache-2.0
// Arrays for tests of folds: at any address, with guarded ends, full of values that are hard to reduce.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "tests/unit/libpopdist/collectives/reduce/fold_reference.h"

namespace popdist::reduce {

/// `count` elements, `offset` bytes behind an address that is a multiple of 64, between bytes that nobody may
/// write.
template <typename T>
class GuardedArray {
 public:
  GuardedArray(std::size_t count, std::size_t offset)
      : count_(count), memory_(count * sizeof(T) + 2 * kGuardBytes + 64, kGuard) {
    const auto gap = (0 - reinterpret_cast<std::uintptr_t>(memory_.data())) % 64;
    begin_ = gap + kGuardBytes + offset;
  }
  GuardedArray(const std::vector<T>& elements, std::size_t offset) : GuardedArray(elements.size(), offset) {
    for (std::size_t i = 0; i < count_; ++i) {
      const T element = elements[i];  // std::vector<bool> has no data()
      std::memcpy(memory_.data() + begin_ + i * sizeof(T), &element, sizeof(T));
    }
  }

  void* data() { return memory_.data() + begin_; }
  const void* data() const { return memory_.data() + begin_; }
  std::vector<T> elements() const {
    std::vector<T> result;
    for (std::size_t i = 0; i < count_; ++i) {
      T element;
      std::memcpy(static_cast<void*>(&element), memory_.data() + begin_ + i * sizeof(T), sizeof(T));
      result.push_back(element);
    }
    return result;
  }
  bool guardsHold() const {
    const std::size_t end = begin_ + count_ * sizeof(T);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((i < begin_ || i >= end) && memory_[i] != kGuard) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kGuardBytes = 128;  // multiple of 64
  static constexpr unsigned char kGuard = 0xA5;

  std::size_t count_;
  std::vector<unsigned char> memory_;
  std::size_t begin_ = 0;
};

template <typename T>
T elementOfBits(std::uint64_t bits) {
  T element;
  std::memcpy(static_cast<void*>(&element), &bits, sizeof(T));
  return element;
}

/// Mantissa and exponent bits of a floating-point type.
template <typename T>
constexpr int kMantissaBits = std::is_same_v<T, half>       ? 10
                              : std::is_same_v<T, bfloat16> ? 7
                              : sizeof(T) == 4              ? 23
                                                            : 52;
template <typename T>
constexpr int kExponentBits = static_cast<int>(8 * sizeof(T)) - 1 - kMantissaBits<T>;

/// Mostly numbers of similar size, and of the rest enough that each pair of kinds meets: zeros of both signs,
/// subnormal numbers, the largest ones, infinities, NaNs of all signs and payloads.
template <typename T>
T floatElement(std::mt19937_64& random) {
  const std::uint64_t mantissa = random() & ((std::uint64_t{1} << kMantissaBits<T>)-1);
  const std::uint64_t sign = (random() & 1) << (8 * sizeof(T) - 1);
  const std::uint64_t most = (std::uint64_t{1} << kExponentBits<T>)-1;
  const auto of = [&](std::uint64_t exponent, std::uint64_t bits) {
    return elementOfBits<T>(sign | exponent << kMantissaBits<T> | bits);
  };
  switch (random() % 64) {
    case 0:
      return of(most, mantissa | 1);
    case 1:
      return of(most, 0);
    case 2:
      return of(most - 1, mantissa);
    case 3:
    case 4:
    case 5:
      return of(0, 0);
    case 6:
    case 7:
    case 8:
      return of(0, mantissa);
    default:
      return of(most / 2 - 4 + random() % 8, mantissa);
  }
}

template <typename T>
T anyElement(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>)
    return random() % 4 != 0;
  else if constexpr (kIsFloat<T>)
    return floatElement<T>(random);
  else
    return random() % 8 == 0 ? T{0} : elementOfBits<T>(random());
}

template <typename T>
std::vector<T> anyElements(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(anyElement<T>(random));
  return result;
}

/// Bit by bit: NaN equals itself, -0 does not equal +0.
template <typename T>
std::vector<std::uint64_t> bitsOf(const std::vector<T>& elements) {
  std::vector<std::uint64_t> bits;
  for (const T element : elements) std::memcpy(&bits.emplace_back(), &element, sizeof(T));
  return bits;
}

}  // namespace popdist::reduce
