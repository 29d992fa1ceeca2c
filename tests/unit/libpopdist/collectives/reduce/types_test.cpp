// SPDX-License-Identifier: Apache-2.0
// Element types, and the conversions of half and bfloat16 over all of their bit patterns.
#include "popdist/types.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

// The compiler's own half is the reference where it has one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define POPDIST_TEST_HAS_FLOAT16 1
#endif

namespace popdist {
namespace {

half halfOfBits(std::uint32_t bits) {
  half value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

bfloat16 bfloat16OfBits(std::uint32_t bits) {
  bfloat16 value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

/// The value of a finite half from the definition of binary16.
double valueOfHalfBits(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const double mantissa = static_cast<double>(bits & 0x3FF);
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Types, HaveTheSizeOfTheirElements) {
  EXPECT_EQ(sizeOf(Type::kBool), sizeof(bool));
  EXPECT_EQ(sizeOf(Type::kInt8), 1U);
  EXPECT_EQ(sizeOf(Type::kUint8), 1U);
  EXPECT_EQ(sizeOf(Type::kInt16), 2U);
  EXPECT_EQ(sizeOf(Type::kUint16), 2U);
  EXPECT_EQ(sizeOf(Type::kInt32), 4U);
  EXPECT_EQ(sizeOf(Type::kUint32), 4U);
  EXPECT_EQ(sizeOf(Type::kInt64), 8U);
  EXPECT_EQ(sizeOf(Type::kUint64), 8U);
  EXPECT_EQ(sizeOf(Type::kHalf), sizeof(half));
  EXPECT_EQ(sizeOf(Type::kBfloat16), sizeof(bfloat16));
  EXPECT_EQ(sizeOf(Type::kFloat), sizeof(float));
  EXPECT_EQ(sizeOf(Type::kDouble), sizeof(double));
}

TEST(Types, HaveNames) {
  EXPECT_STREQ(nameOf(Type::kBool), "bool");
  EXPECT_STREQ(nameOf(Type::kUint8), "uint8");
  EXPECT_STREQ(nameOf(Type::kInt64), "int64");
  EXPECT_STREQ(nameOf(Type::kHalf), "half");
  EXPECT_STREQ(nameOf(Type::kBfloat16), "bfloat16");
  EXPECT_STREQ(nameOf(Type::kDouble), "double");
}

TEST(Types, AnUnknownNumberHasNoSize) {
  EXPECT_EQ(sizeOf(static_cast<Type>(13)), 0U);
  EXPECT_EQ(sizeOf(static_cast<Type>(255)), 0U);
  EXPECT_STREQ(nameOf(static_cast<Type>(255)), "unknown type");
}

TEST(Types, FollowFromTheCppType) {
  static_assert(typeOf<bool>() == Type::kBool);
  static_assert(typeOf<signed char>() == Type::kInt8);
  static_assert(typeOf<std::uint16_t>() == Type::kUint16);
  static_assert(typeOf<long>() == Type::kInt64);
  static_assert(typeOf<half>() == Type::kHalf);
  static_assert(typeOf<bfloat16>() == Type::kBfloat16);
  static_assert(typeOf<float>() == Type::kFloat);
}

TEST(Half, EveryBitPatternHasItsValue) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = static_cast<float>(halfOfBits(bits));
    const std::uint32_t magnitude = bits & 0x7FFF;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    if (magnitude > 0x7C00) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else if (magnitude == 0x7C00) {
      ASSERT_TRUE(std::isinf(value)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), valueOfHalfBits(bits)) << bits;
    }
  }
}

TEST(Half, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const bool signalling_nan = (bits & 0x7C00) == 0x7C00 && (bits & 0x03FF) != 0 && (bits & 0x0200) == 0;
    const std::uint32_t expected = signalling_nan ? bits | 0x0200 : bits;
    ASSERT_EQ(half(static_cast<float>(halfOfBits(bits))).bits, expected) << bits;
  }
}

TEST(Half, RoundsToNearestAndTiesToEvenBetweenAnyTwoNeighbours) {
  for (const std::uint32_t sign : {0x0000U, 0x8000U}) {
    for (std::uint32_t low = 0; low < 0x7C00; ++low) {
      const std::uint32_t high = low + 1;  // 0x7C00 stands for 65536 here: above 65520, infinity is nearest
      const double high_value = high == 0x7C00 ? 65536.0 : valueOfHalfBits(high);
      const auto middle = static_cast<float>((valueOfHalfBits(low) + high_value) / 2);
      const float sign_factor = sign == 0 ? 1.0F : -1.0F;
      const std::uint32_t even = low % 2 == 0 ? low : high;
      ASSERT_EQ(half(sign_factor * middle).bits, sign | even) << low;
      ASSERT_EQ(half(sign_factor * std::nextafter(middle, 0.0F)).bits, sign | low) << low;
      ASSERT_EQ(half(sign_factor * std::nextafter(middle, 1e6F)).bits, sign | high) << low;
    }
  }
}

TEST(Half, BecomesInfiniteBeyondItsRange) {
  EXPECT_EQ(half(65504.0F).bits, 0x7BFF);
  EXPECT_EQ(half(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(half(65520.0F).bits, 0x7C00);
  EXPECT_EQ(half(1e30F).bits, 0x7C00);
  EXPECT_EQ(half(-std::numeric_limits<float>::max()).bits, 0xFC00);
  EXPECT_EQ(half(-std::numeric_limits<float>::infinity()).bits, 0xFC00);
}

TEST(Half, TinyFloatsBecomeZeroOfTheirSign) {
  EXPECT_EQ(half(std::numeric_limits<float>::denorm_min()).bits, 0x0000);
  EXPECT_EQ(half(-std::numeric_limits<float>::min()).bits, 0x8000);
}

TEST(Half, EveryNanStaysNan) {
  for (std::uint32_t payload = 1; payload < 1U << 23; payload = payload * 2 + 1) {
    EXPECT_TRUE(std::isnan(static_cast<float>(half(std::bit_cast<float>(0x7F800000U | payload))))) << payload;
    EXPECT_TRUE(std::isnan(static_cast<float>(half(std::bit_cast<float>(0xFF800000U | payload))))) << payload;
  }
}

#ifdef __SSE__
/// While it lives, this thread's SSE unit takes and gives zeros for subnormal floats.
class FlushSubnormals {
 public:
  FlushSubnormals() { _mm_setcsr(before_ | 0x8040U); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned before_ = _mm_getcsr();
};

TEST(Half, ConvertsTheSameWhereSubnormalFloatsAreFlushedToZero) {
  const FlushSubnormals flush;
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float value = static_cast<float>(halfOfBits(bits));
    ASSERT_EQ(static_cast<double>(value), valueOfHalfBits(bits)) << bits;
    ASSERT_EQ(half(value).bits, bits);
  }
}
#endif

#ifdef POPDIST_TEST_HAS_FLOAT16
std::uint16_t compilersHalfBits(float value) {
  __extension__ const _Float16 converted = static_cast<_Float16>(value);
  std::uint16_t bits = 0;
  std::memcpy(&bits, &converted, sizeof(bits));
  return bits;
}

TEST(Half, AgreesWithTheCompilersHalf) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const std::uint16_t pattern = static_cast<std::uint16_t>(bits);
    _Float16 reference;
    std::memcpy(&reference, &pattern, sizeof(reference));
    const float value = static_cast<float>(halfOfBits(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value),
              std::bit_cast<std::uint32_t>(static_cast<float>(reference)));
  }
  // From below the smallest half to beyond the largest one, on both sides of each rounding boundary.
  for (std::uint32_t top = (127U - 27U) << 10; top < (127U + 18U) << 10; ++top) {
    for (const std::uint32_t low : {0x0000U, 0x0FFFU, 0x1000U, 0x1001U}) {
      const float value = std::bit_cast<float>(top << 13 | low);
      ASSERT_EQ(half(value).bits, compilersHalfBits(value)) << value;
    }
  }
}
#endif

TEST(Bfloat16, IsTheUpperHalfOfAFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(bfloat16OfBits(bits))), bits << 16);
}

TEST(Bfloat16, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const bool nan = (bits & 0x7FFF) > 0x7F80;
    ASSERT_EQ(bfloat16(static_cast<float>(bfloat16OfBits(bits))).bits, nan ? bits | 0x0040 : bits) << bits;
  }
}

TEST(Bfloat16, RoundsToNearestAndTiesToEvenBetweenAnyTwoNeighbours) {
  for (const std::uint32_t sign : {0x0000U, 0x8000U}) {
    for (std::uint32_t low = 0; low < 0x7F80; ++low) {
      const std::uint32_t even = low % 2 == 0 ? low : low + 1;
      const auto rounded = [&](std::uint32_t rest) {
        return bfloat16(std::bit_cast<float>((sign | low) << 16 | rest)).bits;
      };
      ASSERT_EQ(rounded(0x0001), sign | low) << low;
      ASSERT_EQ(rounded(0x7FFF), sign | low) << low;
      ASSERT_EQ(rounded(0x8000), sign | even) << low;
      ASSERT_EQ(rounded(0x8001), sign | (low + 1)) << low;
      ASSERT_EQ(rounded(0xFFFF), sign | (low + 1)) << low;
    }
  }
}

TEST(Bfloat16, EveryNanStaysNan) {
  for (std::uint32_t payload = 1; payload < 1U << 23; payload = payload * 2 + 1) {
    EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7F800000U | payload)))))
        << payload;
    EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0xFF800000U | payload)))))
        << payload;
  }
}

}  // namespace
}  // namespace popdist
