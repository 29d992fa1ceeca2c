// SPDX-License-Identifier: Apache-2.0
// Sums of every type, in place and not, at lengths around those of vector registers and at any address.
#include "libpopdist/src/reduce/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace popdist::reduce {
namespace {

template <typename T>
std::vector<T> sumOf(const std::vector<T>& from, const std::vector<T>& incoming) {
  std::vector<T> to(from.size());
  sumKernel(typeOf<T>())(to.data(), from.data(), incoming.data(), from.size());
  return to;
}

template <typename T>
class SumKernel : public ::testing::Test {
 protected:
  /// Small whole numbers, exact in every type.
  static T number(std::size_t value) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      return T(static_cast<float>(value % 64));
    else
      return static_cast<T>(value % 64);
  }
  static std::vector<T> numbers(std::size_t count, std::size_t first) {
    std::vector<T> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = number(first + 3 * i);
    return result;
  }
  static double valueOf(T element) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
      return static_cast<double>(static_cast<float>(element));
    else
      return static_cast<double>(element);
  }
  static std::vector<double> expectedSums(const std::vector<T>& a, const std::vector<T>& b) {
    std::vector<double> sums;
    for (std::size_t i = 0; i < a.size(); ++i) sums.push_back(valueOf(a[i]) + valueOf(b[i]));
    return sums;
  }
  static std::vector<double> valuesOf(const std::vector<T>& elements) {
    std::vector<double> values;
    for (const T element : elements) values.push_back(valueOf(element));
    return values;
  }
};

using ElementTypes =
    ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                     std::int64_t, std::uint64_t, half, bfloat16, float, double>;
TYPED_TEST_SUITE(SumKernel, ElementTypes);

TYPED_TEST(SumKernel, AddsAllElementsAtEveryLength) {
  for (std::size_t count = 0; count <= 70; ++count) {
    const auto a = this->numbers(count, 1);
    const auto b = this->numbers(count, 7);
    ASSERT_EQ(this->valuesOf(sumOf(a, b)), this->expectedSums(a, b)) << count;
  }
}

TYPED_TEST(SumKernel, AddsInPlaceOnEitherOperand) {
  const auto a = this->numbers(67, 1);
  const auto b = this->numbers(67, 7);
  auto on_from = a;
  sumKernel(typeOf<TypeParam>())(on_from.data(), on_from.data(), b.data(), a.size());
  EXPECT_EQ(this->valuesOf(on_from), this->expectedSums(a, b));
  auto on_incoming = b;
  sumKernel(typeOf<TypeParam>())(on_incoming.data(), a.data(), on_incoming.data(), a.size());
  EXPECT_EQ(this->valuesOf(on_incoming), this->expectedSums(a, b));
}

TYPED_TEST(SumKernel, WritesNothingBehindTheEnd) {
  const auto a = this->numbers(32, 1);
  auto to = this->numbers(32, 9);
  sumKernel(typeOf<TypeParam>())(to.data(), a.data(), a.data(), 17);
  const auto untouched = this->numbers(32, 9);
  for (std::size_t i = 17; i < to.size(); ++i) EXPECT_EQ(this->valueOf(to[i]), this->valueOf(untouched[i]));
}

TYPED_TEST(SumKernel, AcceptsAnyAddress) {
  const auto a = this->numbers(33, 1);
  const auto b = this->numbers(33, 7);
  const std::size_t bytes = a.size() * sizeof(TypeParam);
  std::vector<unsigned char> odd_a(bytes + 1);
  std::vector<unsigned char> odd_to(bytes + 1);
  std::memcpy(odd_a.data() + 1, a.data(), bytes);
  sumKernel(typeOf<TypeParam>())(odd_to.data() + 1, odd_a.data() + 1, b.data(), a.size());
  auto to = a;
  std::memcpy(to.data(), odd_to.data() + 1, bytes);
  EXPECT_EQ(this->valuesOf(to), this->expectedSums(a, b));
}

template <typename T>
void expectWrapAround() {
  const T lowest = std::numeric_limits<T>::min();
  const T highest = std::numeric_limits<T>::max();
  EXPECT_EQ(sumOf<T>({highest, 1, highest, lowest}, {1, highest, highest, lowest}),
            (std::vector<T>{lowest, lowest, static_cast<T>(-2), 0}));
}

template <>
void expectWrapAround<std::uint64_t>() {
  EXPECT_EQ(sumOf<std::uint64_t>({UINT64_MAX, UINT64_MAX}, {1, UINT64_MAX}),
            (std::vector<std::uint64_t>{0, UINT64_MAX - 1}));
}

TEST(SumKernels, IntegersWrapAround) {
  expectWrapAround<std::int8_t>();
  expectWrapAround<std::int16_t>();
  expectWrapAround<std::int32_t>();
  expectWrapAround<std::int64_t>();
  expectWrapAround<std::uint64_t>();
  EXPECT_EQ(sumOf<std::uint8_t>({255, 200}, {1, 100}), (std::vector<std::uint8_t>{0, 44}));
  EXPECT_EQ(sumOf<std::uint16_t>({65535}, {65535}), (std::vector<std::uint16_t>{65534}));
  EXPECT_EQ(sumOf<std::uint32_t>({UINT32_MAX}, {2}), (std::vector<std::uint32_t>{1}));
}

TEST(SumKernels, FloatsAddAsTheLanguageDoes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> sums =
      sumOf<float>({0.1F, 1e30F, infinity, infinity, 1.0F}, {0.2F, -1e30F, 1.0F, -infinity, 1e-9F});
  EXPECT_EQ(sums[0], 0.1F + 0.2F);
  EXPECT_EQ(sums[1], 0.0F);
  EXPECT_EQ(sums[2], infinity);
  EXPECT_TRUE(std::isnan(sums[3]));
  EXPECT_EQ(sums[4], 1.0F);
  EXPECT_EQ(sumOf<double>({0.1}, {0.2})[0], 0.1 + 0.2);
}

/// All pairs of some hundred bit patterns from all over the range, against the element's own conversions.
template <typename T>
void expectSumsRoundedOnce() {
  std::vector<T> from;
  std::vector<T> incoming;
  for (std::uint32_t a = 0; a <= 0xFFFF; a += 331) {
    for (std::uint32_t b = 0; b <= 0xFFFF; b += 337) {
      from.emplace_back().bits = static_cast<std::uint16_t>(a);
      incoming.emplace_back().bits = static_cast<std::uint16_t>(b);
    }
  }
  const std::vector<T> sums = sumOf(from, incoming);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const T expected(static_cast<float>(from[i]) + static_cast<float>(incoming[i]));
    if (std::isnan(static_cast<float>(expected))) {
      ASSERT_TRUE(std::isnan(static_cast<float>(sums[i]))) << from[i].bits << " + " << incoming[i].bits;
    } else {
      ASSERT_EQ(sums[i].bits, expected.bits) << from[i].bits << " + " << incoming[i].bits;
    }
  }
}

TEST(SumKernels, HalvesAreAddedAsFloatsAndRoundedOnce) {
  expectSumsRoundedOnce<half>();
}
TEST(SumKernels, Bfloat16sAreAddedAsFloatsAndRoundedOnce) {
  expectSumsRoundedOnce<bfloat16>();
}

TEST(SumKernels, HalfSumsTieToEven) {
  // 2048 + 1 lies between 2048 and 2050, 2050 + 1 between 2050 and 2052.
  const std::vector<half> sums =
      sumOf<half>({half(2048.0F), half(2050.0F), half(65504.0F)}, {half(1.0F), half(1.0F), half(16.0F)});
  EXPECT_EQ(static_cast<float>(sums[0]), 2048.0F);
  EXPECT_EQ(static_cast<float>(sums[1]), 2052.0F);
  EXPECT_TRUE(std::isinf(static_cast<float>(sums[2])));
}

TEST(SumKernels, BooleansHaveNone) {
  EXPECT_EQ(sumKernel(Type::kBool), nullptr);
}

TEST(SumKernels, UnknownTypesHaveNone) {
  EXPECT_EQ(sumKernel(static_cast<Type>(200)), nullptr);
}

}  // namespace
}  // namespace popdist::reduce
